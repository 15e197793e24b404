import { unavailable } from "@nodeloom/kernel";
import { createBatcher, type Logger, type RelayedRows } from "@nodeloom/platform";
import { BILLING_LIMITS } from "../limits";
import type { LedgerRow } from "../account/movement";
import type { BillingStore, OwingAccount } from "../store";

/** Rows this old are not on their way any more: the process that wrote them is gone, or failed to drain them. */
const STRANDED_AFTER_MS = 5_000;
/** Commits whose rows wait here at most; the rows of more are left to the relay. */
const MAX_WAITING = 5_000;
/** Rows are safe in their outboxes: waiting a little lets those of several commits leave together. */
const GATHER_MS = 100;
/** So many don't wait, to keep the accounts small. */
const MAX_BATCH = 64;

interface Committed {
  rows: readonly LedgerRow[];
  appended(): void;
}

export interface OutboxDependencies {
  store: Pick<BillingStore, "appendRows" | "dropFromOutbox" | "findOutboxes" | "load">;
  logger: Logger;
}

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Moves ledger rows from the accounts' outboxes to the ledger: appended first, dropped only then. Both steps may be
 * repeated by anyone at any time, so a crash in between only means that the relay does them again.
 */
export const createOutbox = ({ store, logger }: OutboxDependencies) => {
  const drain = async (rows: readonly LedgerRow[], appended?: () => void): Promise<void> => {
    if (rows.length === 0) return;
    await store.appendRows(rows);
    appended?.();
    await store.dropFromOutbox(rows);
  };

  const batcher = createBatcher<Committed, void>({
    work: async (_key, batch) => {
      const appended = (): void => batch.forEach(({ value }) => value.appended());
      const rows = batch.flatMap(({ value }) => value.rows);
      await drain(rows, appended).catch((error: unknown) => logger.warn({ err: error }, "ledger rows stay in their outboxes for now"));
      for (const { resolve } of batch) resolve();
    },
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    gatherMs: GATHER_MS,
    overloaded: () => unavailable("too many rows are on their way to the ledger"),
  });

  /** Drains what an account carries now, so that its ledger is complete. */
  const flush = async (userId: string): Promise<void> => drain((await store.load(userId))?.outbox ?? []);

  /** What earlier processes left behind: an account's rows leave in order, so that an oldest one that stays is stranded. */
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
    /** Drains rows that were just written to an account soon; `appended` is called once they are in the ledger. */
    add: (rows: readonly LedgerRow[], appended: () => void): void => {
      if (rows.length > 0) batcher.submit("", { rows, appended }, Infinity).catch(() => undefined);
    },

    flush,
    drain,
    relayed,

    /** Whether an account carries so many rows that they must go before it takes more. */
    isFull: (rows: readonly LedgerRow[]): boolean => rows.length > BILLING_LIMITS.outboxRows,

    /** Waits for rows that are under way. */
    stop: (): Promise<void> => batcher.close(),
  };
};
