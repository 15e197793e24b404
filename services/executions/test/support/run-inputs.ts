import type { PlanStep, RunPlan } from "@nodeloom/kernel";
import type { RunInput } from "../../src/run/types";

/** A plan without warnings and results, for the given steps. */
export const planWith = (steps: PlanStep[], part: Partial<RunPlan> = {}): RunPlan => ({
  steps,
  ...{ evaluated: [], warnings: {}, models: {}, output: {}, outputNodes: [], markupPermille: 1_000 },
  used: { valueBytes: 0, calls: 0, work: 0 },
  ...part,
});

/** The first attempt at a run of a Pro account, with the models of its plan. */
export const inputWith = (executionId: string, plan: RunPlan, part: Partial<RunInput> = {}): RunInput => ({
  ...{ executionId, userId: "u", mode: "async", workflowSlug: null, source: "api-slim", keyId: null, webhook: null },
  ...{ baseTier: "pro", concurrency: 0, plan, modelIds: Object.keys(plan.models) },
  ...{ holds: [], holdId: `${executionId}.1`, attempt: 1, held: [], receivedAt: Date.now() },
  ...part,
});
