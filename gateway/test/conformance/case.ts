import type { Context } from "./context";

/** Requirements of a case besides a deployment and its administrator. */
export type Need = "receiver";

/** One sentence of the contract, and the requests that prove it. */
export interface Case {
  section: string;
  /** The guarantee in a few words, unique within its section. */
  sentence: string;
  needs?: readonly Need[];
  /** Runs alone after all others, because it uses up shared resources or measures time. */
  alone?: boolean;
  deadlineMs?: number;
  run: (context: Context) => Promise<void>;
}

export type CaseOptions = Pick<Case, "needs" | "alone" | "deadlineMs">;

/** Declares the cases of one section. */
export const inSection =
  (section: string) =>
  (sentence: string, run: Case["run"], options: CaseOptions = {}): Case => ({ section, sentence, run, ...options });
