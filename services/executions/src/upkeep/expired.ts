/** Erases runs and batches whose retention has ended, for the relay. An index returns them in order of their erasure times. */
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

/** No process works on these rows, and their outboxes are empty. */
const DUE = { entriesOf: (): number => 0, staleMs: 0 } as const;

const createExpiredRuns = ({ stores, burying, outbox, now = Date.now }: RelayedExpiredOptions): RelayedRows<ExecutionView> => {
  const { tombstones, log } = stores;

  /** Empties a run. Its remaining data is found again when its next erasure time is reached. */
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
