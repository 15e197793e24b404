/** Batches for which something is to be done, for the relay. */
import type { RelayedRows } from "@nodeloom/platform";
import type { BatchStarter } from "../workflow/client";
import type { OpenBatch } from "../record/batches";
import { TIMING } from "../run/timing";
import type { Stores } from "../record/stores";

export interface RelayedBatchesOptions {
  stores: Pick<Stores, "batches">;
  starter: BatchStarter;
  now?: () => number;
}

/**
 * Has a workflow carry each batch, also one that was lost with Temporal's database: the start joins the workflow that there is. Batches
 * whose creation was lost are forgotten.
 */
export const createRelayedBatches = ({ stores: { batches }, starter, now = Date.now }: RelayedBatchesOptions): RelayedRows<OpenBatch> => ({
  name: "batches",
  page: (limit, after) => batches.carried(limit, after?._id),
  signatureOf: ({ _id, status }) => JSON.stringify([_id, status]),
  entriesOf: () => 0,
  settle: async ([batch]) => {
    const { _id, userId, status, createdAt } = batch!;
    if (status !== "preparing") await starter.startBatch(_id, userId);
    else if (now() - createdAt.getTime() > TIMING.batchPreparing) await batches.forget(_id);
    // It is looked at again, less and less often, until nothing is to be done for it.
    return false;
  },
});
