/** Erases runs and batches whose `retentionDays` are over, for the relay: by an index, in order of their times. */
import { erasedAfter } from "@nodeloom/kernel";
import type { RelayedRows } from "@nodeloom/platform";
import type { Burying } from "../erasure/burying";
import type { Outbox } from "../lifecycle/outbox";
import type { Stores } from "../record/stores";
import type { BatchRecord } from "../run/batch";
import type { ExecutionView } from "../run/record";

export interface RelayedExpiredOptions {
  stores: Pick<Stores, "tombstones" | "batches" | "log">;
  burying: Burying;
  outbox: Pick<Outbox, "deliver">;
  now?: () => number;
}

const EXPIRED = { isExpired: true } as const;

/** No process is at them, and one that waits for its time owes nothing. */
const DUE = { entriesOf: (): number => 0, staleMs: 0 } as const;

const createExpiredRuns = ({ stores, burying, outbox, now = Date.now }: RelayedExpiredOptions): RelayedRows<ExecutionView> => {
  const { tombstones, log } = stores;

  /** Later, the rest of it is found again by its next time. */
  const empty = async (row: ExecutionView): Promise<void> => {
    const { resultJson } = await log.whole(row);
    const uses = (row.uses ?? []).filter((name) => resultJson?.includes(name) === true);
    const eraseAt = row.batchId === undefined ? erasedAfter(0, row.finishedAt ?? new Date(now())) : undefined;
    const emptied = await tombstones.empty(row, uses, eraseAt);
    if (emptied) await outbox.deliver(emptied);
  };

  return {
    ...DUE,
    name: "expired runs",
    page: (limit, after) => tombstones.due(new Date(now()), limit, after),
    signatureOf: ({ _id, isEmptied }) => JSON.stringify([_id, isEmptied]),
    settle: async (rows) => {
      for (const row of rows)
        if (row.retentionDays === 0 && !row.isEmptied) await empty(row);
        else await burying.bury([row], EXPIRED);
      return true;
    },
  };
};

const createExpiredBatches = ({ stores, burying, now = Date.now }: RelayedExpiredOptions): RelayedRows<BatchRecord> => ({
  ...DUE,
  name: "expired batches",
  page: (limit, after) => stores.batches.due(new Date(now()), limit, after),
  signatureOf: ({ _id }) => _id,
  settle: async (batches) => {
    for (const batch of batches) await burying.removeBatch(batch, EXPIRED);
    return true;
  },
});

export const createRelayedExpired = (options: RelayedExpiredOptions) =>
  ({ runs: createExpiredRuns(options), batches: createExpiredBatches(options) }) as const;
