import type { Logger } from "@nodeloom/platform";
import { BILLING_LIMITS } from "../limits";
import type { LedgerRow } from "../account/movement";
import type { BillingStore } from "../store";

/** Rows this old are not on their way any more: the process that wrote them is gone, or failed to drain them. */
const STRANDED_AFTER_MS = 5_000;
const SWEEP_INTERVAL_MS = 5_000;
const SWEEP_ACCOUNTS = 100;
/** Rows waiting here at most; more are left to the sweeper, which finds them in the accounts. */
const MAX_WAITING_ROWS = 20_000;
const DRAIN_ROWS = 1_000;
/** Rows are safe in their outboxes: waiting a little lets those of several commands leave together. */
const FLUSH_DELAY_MS = 100;
/** So many don't wait, to keep the accounts small. */
const PROMPT_ROWS = 64;

interface Batch {
  rows: readonly LedgerRow[];
  appended(): void;
}

export interface OutboxDependencies {
  store: Pick<BillingStore, "appendRows" | "dropFromOutbox" | "findOutboxes" | "load">;
  logger: Logger;
  clock: () => Date;
}

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Moves ledger rows from the accounts' outboxes to the ledger: appended first, dropped only then. Both steps may be
 * repeated by anyone at any time, so a crash in between only means that the next sweep does them again.
 */
export const createOutbox = ({ store, logger, clock }: OutboxDependencies) => {
  let waiting: Batch[] = [];
  let waitingRows = 0;
  let working: Promise<void> | undefined;
  let sweeping: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let flushTimer: NodeJS.Timeout | undefined;

  const drain = async (rows: readonly LedgerRow[], appended?: () => void): Promise<void> => {
    if (rows.length === 0) return;
    await store.appendRows(rows);
    appended?.();
    await store.dropFromOutbox(rows);
  };

  const takeBatches = (): Batch[] => {
    let rows = 0;
    const count = waiting.findIndex((batch) => (rows += batch.rows.length) >= DRAIN_ROWS) + 1 || waiting.length;
    const taken = waiting.slice(0, count);
    waiting = waiting.slice(count);
    for (const batch of taken) waitingRows -= batch.rows.length;
    return taken;
  };

  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batches = takeBatches();
      const appended = (): void => batches.forEach((batch) => batch.appended());
      await drain(
        batches.flatMap((batch) => batch.rows),
        appended,
      ).catch((error: unknown) => logger.warn({ err: error }, "ledger rows stay in their outboxes for now"));
    }
  };

  const workNow = (): void => {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    if (waiting.length === 0) return;
    working ??= work().finally(() => {
      working = undefined;
      workNow();
    });
  };

  /** Each account by itself, so that one whose rows cannot be written doesn't hold up the others. */
  const sweepOnce = async (olderThan: Date): Promise<void> => {
    let after = "";
    for (;;) {
      const stranded = await store.findOutboxes(olderThan, after, SWEEP_ACCOUNTS);
      for (const { userId, rows } of stranded) {
        await drain(rows).catch((error: unknown) => logger.error({ err: error, userId }, "an account's ledger rows could not be drained"));
      }
      if (stranded.length < SWEEP_ACCOUNTS) return;
      after = stranded.at(-1)!.userId;
    }
  };

  const sweep = (ageMs: number): Promise<void> => {
    sweeping ??= sweepOnce(new Date(clock().getTime() - ageMs))
      .catch((error: unknown) => logger.warn({ err: error }, "sweeping outboxes failed"))
      .finally(() => (sweeping = undefined));
    return sweeping;
  };

  return {
    /** Drains rows that were just written to an account soon; `appended` is called once they are in the ledger. */
    add: (rows: readonly LedgerRow[], appended: () => void): void => {
      if (rows.length === 0 || waitingRows + rows.length > MAX_WAITING_ROWS) return;
      waiting.push({ rows, appended });
      waitingRows += rows.length;
      if (waitingRows >= PROMPT_ROWS) workNow();
      else flushTimer ??= setTimeout(workNow, FLUSH_DELAY_MS);
    },

    /** Drains what an account carries now, so that its ledger is complete. */
    flush: async (userId: string): Promise<void> => drain((await store.load(userId))?.outbox ?? []),

    drain,

    /** Whether an account carries so many rows that they must go before it takes more. */
    isFull: (rows: readonly LedgerRow[]): boolean => rows.length > BILLING_LIMITS.outboxRows,

    /** Drains what earlier processes left behind, now and from time to time. */
    start: (): void => {
      void sweep(0);
      timer = setInterval(() => void sweep(STRANDED_AFTER_MS), SWEEP_INTERVAL_MS).unref();
    },

    /** Ends sweeping and waits for rows that are under way. */
    stop: async (): Promise<void> => {
      clearInterval(timer);
      workNow();
      await sweeping;
      await working;
    },
  };
};
