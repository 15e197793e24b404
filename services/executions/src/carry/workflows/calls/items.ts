/** Calls what a step has for each of its items. */
import { ABSENT, isAbsent, placeOf, type Bound } from "@nodeloom/kernel/graph";
import type { CallContext } from "../../../run/types";
import { isOfItem, runError } from "./failures";
import { callItems, type StepRun } from "./schedule";

type Item = Record<string, unknown>;

/**
 * Calls every item in parallel. Where the step says so, items that fail are absent in what this gives; all of them failing fails it, as one does
 * otherwise.
 */
export const callBound = async <T>(
  { run, input, step, context }: StepRun,
  bound: Bound,
  callItem: (item: Item, context: CallContext, index: number) => Promise<T>,
): Promise<(T | typeof ABSENT)[]> => {
  const { length } = bound.items;
  const skips = step.skipsFailed === true && length > 1;
  const firstItem = placeOf(bound, 0);
  const shared: Partial<CallContext> = { ...(firstItem > 0 ? { firstItem } : {}), ...(skips ? { isSkippable: true } : {}) };
  const call = (item: Item, index: number): Promise<T> => callItem(item, { ...context(placeOf(bound, index), length), ...shared }, index);
  if (!skips) return callItems(bound.items, call);
  let first: unknown;
  const results = await callItems(bound.items, async (item, index) => {
    try {
      return await call(item, index);
    } catch (error) {
      if (!isOfItem(error)) throw error;
      first ??= error;
      run.itemFailed(step.id, placeOf(bound, index), runError(error, run.node(step.id), input.mode));
      return ABSENT;
    }
  });
  if (results.every(isAbsent)) throw first;
  return results;
};
