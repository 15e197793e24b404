import { withTimeout } from "../../../services/platform/src/work/timeout";
import type { Case } from "./case";
import type { Context } from "./context";

export interface Outcome {
  case: Case;
  status: "passed" | "failed" | "skipped";
  /** Reason of the failure; undefined if the case passed. */
  reason?: Error;
  ms: number;
}

export interface RunnerOptions {
  /** Maximum number of cases in parallel. */
  parallel?: number;
  deadlineMs?: number;
  onOutcome?: (outcome: Outcome) => void;
}

const PARALLEL = 8;
const DEADLINE_MS = 300_000;

const missing = ({ needs = [] }: Case, context: Context): string | undefined =>
  needs.includes("receiver") && !context.receiver ? "needs an address where the deployment may call us (--receiver)" : undefined;

const runCase = async (one: Case, context: Context, deadlineMs: number): Promise<Outcome> => {
  const lacks = missing(one, context);
  if (lacks !== undefined) return { case: one, status: "skipped", reason: new Error(lacks), ms: 0 };
  const startedAt = performance.now();
  const ms = (): number => Math.round(performance.now() - startedAt);
  try {
    const withinMs = one.deadlineMs ?? deadlineMs;
    await withTimeout(one.run(context), withinMs, () => {
      throw new Error(`not done within ${withinMs} ms`);
    });
    return { case: one, status: "passed", ms: ms() };
  } catch (error) {
    return { case: one, status: "failed", reason: error instanceof Error ? error : new Error(String(error)), ms: ms() };
  }
};

/** Runs cases in parallel up to a limit, the longest first. Each ends by its deadline. Returns outcomes in the given order. */
export const runCases = async (cases: readonly Case[], context: Context, options: RunnerOptions = {}): Promise<Outcome[]> => {
  const { parallel = PARALLEL, deadlineMs = DEADLINE_MS, onOutcome } = options;
  const outcomes = new Map<Case, Outcome>();
  const work = async (queue: Case[]): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const outcome = await runCase(next, context, deadlineMs);
      outcomes.set(next, outcome);
      onOutcome?.(outcome);
    }
  };
  const together = cases.filter((one) => !one.alone).sort((a, b) => (b.deadlineMs ?? 0) - (a.deadlineMs ?? 0));
  await Promise.all(Array.from({ length: parallel }, () => work(together)));
  await work(cases.filter((one) => one.alone));
  return cases.map((one) => outcomes.get(one)!);
};
