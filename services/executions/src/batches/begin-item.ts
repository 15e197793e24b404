/** Starts or joins one item of a batch, and counts the item if it has ended. */
import { DomainError, isUnavailable } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import { itemEndOf, type BatchRecord, type BatchRow, type ItemInput, type UnderWay } from "../run/batch";
import type { BatchReason } from "../run/batch-reasons";
import type { ExecutionView } from "../run/record";
import { isFinal } from "../run/states";
import type { Stores } from "../record/stores";
import type { Runs } from "../accept/runs";
import { itemRequest } from "./item";
import type { Runner } from "../run/runner";

/**
 * State of an item after the attempt to start it. `later`: nothing runs; start it again later. `unknown`: the item may run; starting it
 * again joins it. `paused`: no item can start until the batch is resumed.
 */
export type BeginOutcome = "goes on" | "over" | "later" | "unknown" | "paused";

export interface BeginItemOptions {
  stores: Pick<Stores, "batches" | "payloads">;
  runs: Pick<Runs, "run">;
  logger: Logger;
}

export interface Beginning {
  runner: Runner;
  /** The item can be queued if no place is free. */
  mayWait: boolean;
  isNew: boolean;
}

const briefOf = ({ reason: code, message, metadata: { scope } }: DomainError): BatchReason => ({
  ...{ code, message },
  ...(typeof scope === "string" ? { scope } : {}),
});

/** True for refusals that a retry can't change: missing credits, or an exhausted budget. */
const pauses = ({ kind, reason }: DomainError): boolean => kind === "exhausted" && reason !== "CONCURRENCY_LIMIT_EXCEEDED";
export const isTemporary = (error: DomainError): boolean => error.reason === "CONCURRENCY_LIMIT_EXCEEDED" || isUnavailable(error);
export const isCertain = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.metadata.outcome !== "unknown" && error.kind !== "internal";

export const createBeginItem = ({ stores, runs, logger }: BeginItemOptions) => {
  const { batches } = stores;

  const handleRefusal = async (batchId: string, item: UnderWay, error: DomainError): Promise<BeginOutcome> => {
    if (isTemporary(error)) {
      await batches.giveBack(batchId, item);
      return "later";
    }
    if (pauses(error)) {
      const givenBack = await batches.giveBack(batchId, item);
      // Running items may return enough credits to the budget.
      if (error.reason === "BUDGET_EXCEEDED" && givenBack && givenBack.underWay.length > 0) return "later";
      await batches.pause(batchId, briefOf(error));
      return "paused";
    }
    await batches.endItem(batchId, { index: item.index, status: "failed", millicredits: 0, error: briefOf(error) });
    return "over";
  };

  /** Counts an item that ended before it was recorded as under way. */
  const over = async (batchId: string, index: number, row: ExecutionView): Promise<BeginOutcome> => {
    await batches.endItem(batchId, itemEndOf(index, row));
    return "over";
  };

  return async (batch: BatchRecord, item: UnderWay, { input }: BatchRow, beginning: Beginning): Promise<BeginOutcome> => {
    const { _id: batchId } = batch;
    try {
      const json = await stores.payloads.getText(input);
      if (json === null)
        throw new DomainError("failed", "EXECUTION_FAILED", "the inputs of the item were deleted at the end of their retention");
      const { row, isReplay } = await runs.run(itemRequest(batch, item, JSON.parse(json) as ItemInput, beginning));
      if (!isFinal(row)) return "goes on";
      const isCounted = !isReplay && row.outbox.length === 0;
      return isCounted ? "over" : await over(batchId, item.index, row);
    } catch (error) {
      if (isCertain(error)) return handleRefusal(batchId, item, error);
      logger.warn({ batchId, index: item.index, err: error }, "it is not known whether an item of a batch goes on");
      return "unknown";
    }
  };
};

export type BeginItem = ReturnType<typeof createBeginItem>;
