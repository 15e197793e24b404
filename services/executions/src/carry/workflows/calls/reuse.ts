import { callsHttp, itemHolds, placeOf, type Bound } from "@nodeloom/kernel/graph";
import type { ReusedResult } from "../../../run/call-record";
import type { HttpNodeCall, ModelCall, TransformCall } from "../../../run/calls";
import type { CallContext } from "../../../run/types";
import { takeOver } from "../steps";
import { extend } from "./models";
import type { StepRun } from "./schedule";

/** Calls of a rerun that an earlier run has made already. */

/** The call that an item of a step is made by. */
type CallOf = (item: Record<string, unknown>, context: CallContext) => ModelCall | HttpNodeCall | TransformCall;

/** What the calls of a step reuse, in the order of its items, null for what is to be made; undefined where they all are made. */
export const reuseCalls = async (
  { run, input, step, context }: StepRun,
  bound: Bound,
  callOf: CallOf,
): Promise<(ReusedResult | null)[] | undefined> => {
  const { reuse } = input;
  if (!reuse || reuse.again.includes(step.id)) return undefined;
  if (callsHttp(step.type) && !reuse.requests.includes(step.id)) return undefined;
  const { items } = bound;
  const calls = run.inputs.uncounted(() => items.map((item, index) => callOf(item, context(placeOf(bound, index), items.length))));
  const reused = await takeOver({ sources: reuse.sources, calls });
  for (const one of reused) if (one) run.itemDone(step.id);
  if (reused.length === 1 && reused[0]) run.node(step.id).reusedFrom = reused[0].from;
  return reused;
};

/** Holds the calls of a rerun's step that are made and that nothing was held for: what was to be reused may be gone. */
export const holdMade = async (stepRun: StepRun, bound: Bound, reused: readonly (ReusedResult | null)[] = []): Promise<void> => {
  const { run, input, step } = stepRun;
  const held = new Set([...input.held, ...run.extended].map(({ key }) => key));
  const made = bound.items.flatMap((_, index) => (reused[index] ? [] : itemHolds(step, placeOf(bound, index))));
  // Of a call whose own model is free, only those in its place are held.
  const unheld = made.filter(
    ({ key, alternativeTo = key, maxMillicredits }) => maxMillicredits > 0 && !held.has(key) && !held.has(alternativeTo),
  );
  if (unheld.length > 0) await extend(stepRun, unheld);
};
