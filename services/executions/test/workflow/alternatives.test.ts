import { ApplicationFailure } from "@temporalio/workflow";
import fc from "fast-check";
import { holdItems, type PlanAlternative, type PlanStep, type RunPlan } from "@nodeloom/kernel";
import { callModelOf } from "../../src/workflow/workflows/calls/models";
import type { StepRun } from "../../src/workflow/workflows/calls/schedule";
import type { ModelCall } from "../../src/run/calls";
import { chargeFor } from "../../src/run/charge";
import { GraphRun } from "../../src/run/graph-run";
import type { CallContext, CallResult, HeldItem, RunInput } from "../../src/run/types";
import { planWith } from "../support/run-inputs";

/** Fallbacks: in order, only after certain failures, charged once. */

const alternative = (place: number): PlanAlternative => ({
  model: `m${place}`,
  literals: { prompt: "p" },
  listPorts: [],
  textPorts: ["prompt"],
  inputNames: ["prompt"],
  maxMillicredits: 1_000 * (place + 1),
});

const planOf = (count: number): RunPlan => {
  const step: PlanStep = {
    ...alternative(0),
    ...{ id: "pic", type: "generate-image", sources: {}, maxItems: 1 },
    fallback: Array.from({ length: count - 1 }, (_, index) => alternative(index + 1)),
  };
  const models = Array.from({ length: count }, (_, place) => [
    `m${place}`,
    { providerKind: "http-polling", modality: "image", price: { basis: "run", microUsd: 1 } },
  ]);
  return planWith([step], { models: Object.fromEntries(models) as RunPlan["models"] });
};

const CONTEXT: CallContext = {
  ...{ executionId: "e", userId: "u", nodeId: "pic", nodeIndex: 0, item: 0, items: 1, startedAt: 0, key: "e:pic:0" },
};

type Outcome = "made" | "refused" | "unknown";
const failure = (details: object): ApplicationFailure =>
  ApplicationFailure.nonRetryable("no", "EXECUTION_FAILED", { code: "EXECUTION_FAILED" }, details);
const UNKNOWN = failure({ jobMayRun: true });

const callAll = async (outcomes: readonly Outcome[]): Promise<{ run: GraphRun; calls: ModelCall[]; plan: RunPlan; callError: unknown }> => {
  const plan = planOf(outcomes.length);
  const run = new GraphRun(plan);
  const calls: ModelCall[] = [];
  const stepRun = { run, input: { plan } as RunInput, step: plan.steps[0]! } as StepRun;
  const make = async (call: ModelCall): Promise<CallResult> => {
    const outcome = outcomes[calls.push(call) - 1]!;
    if (outcome === "refused") throw failure({ mayTryAnother: true });
    if (outcome === "unknown") throw UNKNOWN;
    run.callCompleted(call, 10_000);
    return { files: [], text: null, costMicroUsd: 10_000, requestId: call.model };
  };
  const callError = await callModelOf(stepRun, {}, CONTEXT, make).catch((error: unknown) => error);
  return { run, calls, plan, callError };
};

it("charges at most one success of a call under any failures, and tries no other model once the outcome of one is unknown", async () => {
  const outcome = fc.constantFrom<Outcome>("made", "refused", "unknown");
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, { minLength: 1, maxLength: 6 }), async (outcomes) => {
      const { run, calls, plan, callError } = await callAll(outcomes);
      const decisive = outcomes.findIndex((one) => one !== "refused");
      expect(calls).toHaveLength(decisive < 0 ? outcomes.length : decisive + 1);
      expect(new Set(calls.map(({ key }) => key)).size).toBe(calls.length);
      const isMade = outcomes[decisive] === "made";
      expect(run.completed).toHaveLength(isMade ? 1 : 0);
      if (outcomes[decisive] === "unknown") expect(callError).toBe(UNKNOWN);
      const holds = holdItems(plan).map(({ key, maxMillicredits }): HeldItem => ({
        key,
        source: "credits",
        millicredits: maxMillicredits,
      }));
      const charge = chargeFor({ status: isMade ? "completed" : "failed", error: null, completed: run.completed }, holds, 1_000);
      expect(charge.items.map(({ key, captureMillicredits }) => [key, captureMillicredits])).toEqual(
        isMade ? [[calls.at(-1)!.key.slice("e:".length), 1_000]] : [],
      );
    }),
  );
});

it("records for each call the model that makes it, and whether others are left", async () => {
  const { calls, run } = await callAll(["refused", "refused", "made"]);
  expect(calls.map(({ model, key, alternative: of }) => [model, key, of?.place, of?.isLast])).toEqual([
    ["m0", "e:pic:0", 0, false],
    ["m1", "e:pic:0.alt1", 1, false],
    ["m2", "e:pic:0.alt2", 2, true],
  ]);
  expect(run.end(undefined).usedAlternatives).toEqual(["m2"]);
});

it("records no alternatives if there are none", async () => {
  const { calls } = await callAll(["made"]);
  expect(calls[0]).not.toHaveProperty("alternative");
});
