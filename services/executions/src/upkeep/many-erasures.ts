/** Carries out erasures of many runs for the relay: a bounded part per turn, until nothing is left. Every step can be repeated. */
import type { RelayedRows } from "@nodeloom/platform";
import type { Erasure } from "../clients";
import type { Carrying } from "../erasure/carriers";
import type { Outbox } from "../lifecycle/outbox";
import { metadataOfSelection, type ErasureRecord, type MetadataEntry } from "../record/erasures";
import type { Stores } from "../record/stores";
import type { BatchRecord } from "../run/batch";
import { metadataOf, type ExecutionView } from "../run/record";
import { TIMING } from "../run/timing";
import type { Leaver } from "../workflow/leaving";

/** Runs and batches per turn, and how many runs are erased at once. */
const RUNS = 200;
const BATCHES = 20;
const AT_ONCE = 8;
const TEXTS_PAGE = 1_000;
const CALL = { deadlineMs: TIMING.erasePage } as const;

type Metadata = Pick<Erasure, "eraseMetadata">;

export interface RelayedManyErasuresOptions {
  stores: Pick<Stores, "erasures" | "tombstones" | "payloads" | "leaving" | "rows">;
  outbox: Pick<Outbox, "deliver">;
  erasures: { usage: Metadata; billing: Metadata; identity: Metadata; notifications: Pick<Erasure, "eraseRuns"> };
  leaver: Pick<Leaver, "removeDeliveries" | "removeBatch">;
  carriersOf: Carrying;
}

export const createRelayedManyErasures = (options: RelayedManyErasuresOptions): RelayedRows<ErasureRecord> => {
  const { stores, outbox, erasures: services, leaver, carriersOf } = options;
  const { erasures, tombstones, payloads, leaving, rows } = stores;

  /** Leaves tombstones, whose outboxes have the rest removed. What fails, or isn't final yet, is found again. */
  const bury = async (erasure: ErasureRecord, runs: readonly ExecutionView[]): Promise<void> => {
    const withKept = metadataOfSelection(erasure.selection) ? { withKept: true as const } : {};
    const rest = runs.values();
    const work = async (): Promise<void> => {
      for (const row of rest) {
        const buried = await tombstones.bury(row, { ...withKept, erasure: erasure._id });
        if (buried) await outbox.deliver(buried);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  const forgetRefused = async (erasure: ErasureRecord): Promise<void> => {
    for (const { _id, attempt } of await erasures.refused(erasure, RUNS))
      if (await rows.forgetRefused(_id, attempt)) await payloads.removeOwned([_id], TEXTS_PAGE);
  };

  /** Removes a batch that is over, once its items are erased. */
  const removeBatch = async (erasure: ErasureRecord, { _id, userId }: BatchRecord): Promise<void> => {
    const items = await erasures.itemsLeft(userId, _id, RUNS);
    if (items.length > 0) return void (await bury(erasure, items));
    await services.notifications.eraseRuns({ ownerId: userId, executionIds: [_id] }, CALL);
    await leaver.removeDeliveries(_id);
    await leaver.removeBatch(_id);
    while ((await payloads.removeOwned([_id], TEXTS_PAGE)) > 0);
    await leaving.removeBatches(userId, [_id]);
  };

  /** Removes a value where it is kept beside runs. Budgets and the audit concern the account, so a key with other fixed metadata leaves them. */
  const eraseValue = async ({ userId: ownerId, within }: ErasureRecord, { name, value }: MetadataEntry): Promise<void> => {
    const { [name]: own, ...others } = metadataOf(within);
    const isWhole = Object.keys(others).length === 0 && (own === undefined || own === value);
    await services.usage.eraseMetadata({ ownerId, name, value, within: metadataOf(within) }, CALL);
    if (!isWhole) return;
    for (const service of [services.billing, services.identity]) await service.eraseMetadata({ ownerId, name, value, within: {} }, CALL);
  };

  return {
    name: "erasures of runs",
    page: (limit, after) => erasures.running(limit, after?._id),
    signatureOf: ({ _id }) => _id,
    // It can wait for runs that are under way.
    entriesOf: () => 0,
    staleMs: 0,
    settle: async ([found]) => {
      const erasure = found!;
      const entry = metadataOfSelection(erasure.selection);
      await bury(erasure, await erasures.buriable(erasure, RUNS));
      await forgetRefused(erasure);
      if (entry) for (const batch of await erasures.batchesOver(erasure, BATCHES)) await removeBatch(erasure, batch);
      if ((await erasures.countPending(erasure)) > 0) return true;
      // Once before the data of the last run is gone, and once after it: that can write usage rows until then.
      if (entry && !erasure.isValueErased) {
        await eraseValue(erasure, entry);
        await erasures.markValueErased(erasure._id);
      }
      if ((await erasures.countRemoving(erasure._id)) > 0) return true;
      if (entry) await eraseValue(erasure, entry);
      await erasures.complete(erasure._id, entry && (await carriersOf(erasure.userId, entry)));
      return true;
    },
  };
};
