/** Erases an account's execution data in MongoDB and Temporal, as one step of `maintenance/erasing.ts`. */
import { createErasure, untilNone, type Erase } from "@nodeloom/platform";
import type { Leaver } from "../workflow/leaving";
import type { Erasures } from "../record/erasure/erasures";
import type { LeavingStore } from "../record/erasure/leaving";
import type { MovedTriggers } from "../record/earlier/moved-triggers";
import type { ModerationStore } from "../record/moderation";
import type { PayloadStore } from "../record/payloads";

const RUNS_PAGE = 100;
const BATCHES_PAGE = 20;
const PAYLOADS_PAGE = 1_000;
const DECISIONS_PAGE = 1_000;

export interface EraseOptions {
  store: LeavingStore;
  payloads: Pick<PayloadStore, "removeOwned">;
  moderation: Pick<ModerationStore, "removeOwned">;
  leaver: Pick<Leaver, "removeWorkflows" | "removeDeliveries">;
  moved: Pick<MovedTriggers, "remove">;
  erasures: Pick<Erasures, "removeOwned">;
}

export const createEraseExecutions = ({ store, payloads, moderation, leaver, moved, erasures }: EraseOptions): Erase => {
  const removeTexts = async (owners: readonly string[]): Promise<void> => {
    while ((await payloads.removeOwned(owners, PAYLOADS_PAGE)) > 0);
  };

  /** Data that only the row points to is removed first. After a crash in between, the row can still be found. */
  const removeRuns = async (userId: string): Promise<number> => {
    const page = await store.somePage(userId, RUNS_PAGE);
    const ids = page.map(({ _id }) => _id);
    for (const { _id, webhook } of page) if (webhook) await leaver.removeDeliveries(_id);
    await removeTexts(ids);
    return store.removeRuns(userId, ids);
  };

  const removeBatches = async (userId: string): Promise<number> => {
    const ids = (await store.someBatches(userId, BATCHES_PAGE)).map(({ _id }) => _id);
    await removeTexts(ids);
    return store.removeBatches(userId, ids);
  };

  return createErasure<"executions">(
    (userId) => ({
      schedules: async () => untilNone(await moved.remove("schedules", userId)),
      hooks: async () => untilNone(await moved.remove("hooks", userId)),
      executions: async () => untilNone(await removeRuns(userId)),
      batches: async () => untilNone(await removeBatches(userId)),
      payloads: async () => untilNone(await payloads.removeOwned([userId], PAYLOADS_PAGE)),
      moderation: async () => untilNone(await moderation.removeOwned(userId, DECISIONS_PAGE)),
      erasures: async () => untilNone(await erasures.removeOwned(userId)),
      lines: async () => untilNone(await store.removeLine(userId)),
    }),
    (userId) => ({ workflows: async () => untilNone(await leaver.removeWorkflows(userId)) }),
  );
};
