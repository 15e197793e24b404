import type { RelayedRows } from "@nodeloom/platform";
import type { BatchStarter } from "../workflow/client";
import type { OpenBatch } from "../record/batch-lists";
import { TIMING } from "../run/timing";
import type { Stores } from "../record/stores";

export interface RelayedBatchesOptions {
  stores: Pick<Stores, "batches">;
  starter: BatchStarter;
  now?: () => number;
}

/**
 * Ensures that each batch has a workflow, even after a loss of Temporal's database. Starting has no effect if the workflow exists. Batches
 * whose creation was lost are deleted.
 */
export const createRelayedBatches = ({ stores: { batches }, starter, now = Date.now }: RelayedBatchesOptions): RelayedRows<OpenBatch> => ({
  name: "batches",
  page: (limit, after) => batches.openBatches(limit, after?._id),
  signatureOf: ({ _id, status }) => JSON.stringify([_id, status]),
  entriesOf: () => 0,
  settle: async ([batch]) => {
    const { _id, userId, status, createdAt } = batch!;
    if (status !== "preparing") await starter.startBatch(_id, userId);
    else if (now() - createdAt.getTime() > TIMING.batchPreparing) await batches.forget(_id);
    // The batch is checked again with growing pauses until no work is left.
    return false;
  },
});
