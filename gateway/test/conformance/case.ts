import type { Context } from "./context";

/** What a case needs of the surroundings beside a deployment and its administrator. */
export type Need = "receiver";

/** One sentence of the contract, and the requests that prove it. */
export interface Case {
  /** As in sections.ts. */
  section: string;
  /** What holds, in a few words; unique within its section. */
  sentence: string;
  needs?: readonly Need[];
  /** Runs after all others, alone: it uses up what others need, or measures time. */
  alone?: boolean;
  deadlineMs?: number;
  run: (context: Context) => Promise<void>;
}

export type CaseOptions = Pick<Case, "needs" | "alone" | "deadlineMs">;

/** Declares the cases of one section. */
export const inSection =
  (section: string) =>
  (sentence: string, run: Case["run"], options: CaseOptions = {}): Case => ({ section, sentence, run, ...options });
