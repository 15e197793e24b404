import { unavailable } from "@nodeloom/kernel";
import { createBatcher, type Batcher, type Logger, type RelayedRows } from "@nodeloom/platform";
import { BILLING_LIMITS } from "../limits";
import type { LedgerRow } from "../account/movement";
import { bytesOf } from "../account/size";
import type { BillingStore, OwingAccount } from "../store";

/** Age at which a row counts as stranded because its process ended or failed to move it. */
const STRANDED_AFTER_MS = 5_000;
/** Maximum queued rows. The relay moves further rows. */
const MAX_WAITING = 20_000;
/** A wait collects the rows of several commits. They are already durable in their outboxes. */
const GATHER_MS = 1_000;
/** Used instead of `GATHER_MS` for rows that settle reservations, because a default budget counts a reservation until then. */
const SETTLE_MS = 100;
/** This number of rows is moved without waiting, so that accounts stay small. */
const MAX_BATCH = 256;

interface CommittedRow {
  row: LedgerRow;
  appended(row: LedgerRow): void;
}

export interface OutboxDependencies {
  store: Pick<BillingStore, "appendRows" | "dropFromOutbox" | "findOutboxes" | "load" | "settleReservations">;
  logger: Logger;
}

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Moves ledger rows from accounts' outboxes to the ledger: appends the rows, then settles reservations on default budgets, then removes the
 * rows. All steps are idempotent, so after a crash the relay repeats them.
 */
export const createOutbox = ({ store, logger }: OutboxDependencies) => {
  const drain = async (rows: readonly LedgerRow[], appended?: () => void): Promise<void> => {
    if (rows.length === 0) return;
    await store.appendRows(rows);
    await store.settleReservations(rows.flatMap(({ settled = [] }) => settled));
    appended?.();
    await store.dropFromOutbox(rows);
  };

  const gathering = (gatherMs: number): Batcher<CommittedRow, void> =>
    createBatcher<CommittedRow, void>({
      work: async (_key, batch) => {
        const appended = (): void => batch.forEach(({ value }) => value.appended(value.row));
        const rows = batch.map(({ value }) => value.row);
        await drain(rows, appended).catch((error: unknown) => logger.warn({ err: error }, "ledger rows stay in their outboxes for now"));
        for (const { resolve } of batch) resolve();
      },
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      gatherMs,
      overloaded: () => unavailable("too many rows are on their way to the ledger"),
    });
  const [batcher, settling] = [gathering(GATHER_MS), gathering(SETTLE_MS)];

  /** Empties an account's outbox, so that its ledger is complete. */
  const flush = async (userId: string): Promise<void> => drain((await store.load(userId))?.outbox ?? []);

  /** Rows of crashed processes. An account's rows leave in order, so an old first row is stranded. */
  const relayed: RelayedRows<OwingAccount> = {
    name: "ledger rows",
    page: (limit, after) => store.findOutboxes(limit, after?.userId),
    signatureOf: ({ userId, rows }) => JSON.stringify([userId, rows[0]]),
    entriesOf: ({ rows }) => rows.length,
    staleMs: STRANDED_AFTER_MS,
    settle: async ([account]) => {
      await flush(account!.userId);
      return true;
    },
  };

  return {
    /** Queues newly written rows. `appended` is called for each row when it is in the ledger. */
    add: (rows: readonly LedgerRow[], appended: (row: LedgerRow) => void): void => {
      const { submit } = rows.some(({ settled }) => settled) ? settling : batcher;
      for (const row of rows) submit("", { row, appended }, Infinity).catch(() => undefined);
    },

    flush,
    drain,
    relayed,

    /** True if an account's outbox must be emptied before the account accepts more commands. */
    isFull: (rows: readonly LedgerRow[]): boolean => rows.length > BILLING_LIMITS.outboxRows || bytesOf(rows) > BILLING_LIMITS.outboxBytes,

    stop: async (): Promise<void> => void (await Promise.all([batcher.close(), settling.close()])),
  };
};
