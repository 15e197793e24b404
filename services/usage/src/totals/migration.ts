import { setTimeout as delay } from "node:timers/promises";
import type { Folding } from "./folding";
import type { UsageStore } from "../store";
import type { TotalsStore } from "./totals-store";

/**
 * Rows that were written before there were totals are marked and folded once. A second pass finds those that a process of the
 * version before has written meanwhile.
 */

const PASSES = 2;
/** A rollout has replaced every process of the version before within this time. */
const ROLLOUT_MS = 15 * 60 * 1_000;

export interface MigrationOptions {
  store: Pick<UsageStore, "markOld" | "usersToCount">;
  totals: Pick<TotalsStore, "migration" | "notePass">;
  folding: Pick<Folding, "foldAll">;
  onError(error: unknown): void;
}

export interface Migration {
  /** Whether totals and uncounted rows together are all rows. */
  isDone(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Starts what is left of the migration, and says when totals may be relied upon. */
export const startMigration = ({ store, totals, folding, onError }: MigrationOptions): Migration => {
  const stopping = new AbortController();
  let known = false;

  const pass = async (number: number): Promise<void> => {
    await store.markOld();
    for (const userId of await store.usersToCount()) {
      if (stopping.signal.aborted) return;
      await folding.foldAll(userId);
    }
    await totals.notePass(number, new Date());
  };

  const run = async (): Promise<void> => {
    for (;;) {
      const { passes, finishedAt } = (await totals.migration()) ?? { passes: 0, finishedAt: new Date(0) };
      if (passes >= PASSES || stopping.signal.aborted) return;
      const dueInMs = finishedAt.getTime() + ROLLOUT_MS - Date.now();
      if (dueInMs > 0) await delay(dueInMs, undefined, { signal: stopping.signal, ref: false });
      await pass(passes + 1);
    }
  };

  const running = run().catch((error: unknown) => {
    if (!stopping.signal.aborted) onError(error);
  });

  return {
    isDone: async () => (known ||= ((await totals.migration())?.passes ?? 0) > 0),
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
