import { CancellationScope } from "@temporalio/workflow";
import type { PlanStep } from "@nodeloom/kernel/graph";
import type { CallContext, RunInput } from "../../../run/types";
import type { GraphRun } from "../../../run/graph-run";
import { isRunCancelled } from "./failures";
import type { Batches } from "./batches";

/** One step of a run that makes calls. */
export interface StepRun {
  run: GraphRun;
  input: RunInput;
  step: PlanStep;
  /** Where a call of it stands in the run. */
  context: (item: number, items: number) => CallContext;
  batches: Batches;
  /** No other step of the run is under way, or becomes ready before this one is done. */
  isAlone: boolean;
}

/** Calls every item in parallel. The first failure stops the others, and is thrown once they all have stopped. */
export const callItems = async <T>(
  items: Record<string, unknown>[],
  callItem: (item: Record<string, unknown>, index: number) => Promise<T>,
): Promise<T[]> => {
  const scope = new CancellationScope();
  let failure: unknown;
  const settled = await scope.run(() =>
    Promise.allSettled(
      items.map(async (item, index) => {
        try {
          return await callItem(item, index);
        } catch (error) {
          if (!isRunCancelled(error)) failure ??= error;
          scope.cancel();
          throw error;
        }
      }),
    ),
  );
  if (failure !== undefined) throw failure;
  return settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
};
