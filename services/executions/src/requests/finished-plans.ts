import { unavailable } from "@nodeloom/kernel";
import type { RunInput } from "../run/types";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../store/stores";
import { GraphRun } from "../run/graph-run";
import { endOf } from "../run/graph-end";
import type { Execution } from "../lifecycle/execution";
import type { RunRecordPart } from "../run/new-record";
import { endDebts } from "../run/states";

export type FinishedPlans = (input: RunInput, part: RunRecordPart, earlier: ExecutionView | null, isNew: boolean) => Promise<ExecutionView>;

export interface FinishedPlansOptions {
  stores: Pick<Stores, "rows">;
  execution: Pick<Execution, "insertFinal">;
  /** Does what a row owes. */
  pay: (row: ExecutionView) => Promise<void>;
}

/**
 * Runs in which planning left nothing to call: they cost nothing and are over when they begin. Their rows are inserted
 * final, with the usage row and the webhook that they owe. They have no hold, no place in line and no workflow.
 */
export const createFinishedPlans =
  ({ stores, execution, pay }: FinishedPlansOptions): FinishedPlans =>
  async (input, part, earlier, isNew) => {
    const end = endOf(new GraphRun(input.plan), undefined);
    if (earlier && !(await stores.rows.forgetRefused(input.executionId, earlier.attempt)))
      throw unavailable("the run is still being refused", 1);
    // Only other requests with its id may be waiting for it.
    const record = await execution.insertFinal(input, end, part, endDebts(input.webhook !== null), !isNew);
    // Who reads the usage after the answer finds the run there, unless usage is away.
    if (record) await pay(record);
    const row = record ?? (await stores.rows.find(input.executionId));
    if (!row) throw unavailable("the run could not be recorded", 1);
    return row;
  };
