/** Performs erasures of many runs for the relay: a limited part per turn, until nothing is left. Every step can be repeated. */
import type { RelayedRows } from "@nodeloom/platform";
import type { Erasure } from "../clients";
import { RUNS, TEXTS_PAGE, type Burying } from "../erasure/burying";
import type { Carrying } from "../erasure/carriers";
import { metadataOfSelection, type ErasureRecord, type MetadataEntry } from "../record/erasure/erasures";
import type { Stores } from "../record/stores";
import type { BuriedBy } from "../record/erasure/tombstones";
import { metadataOf } from "../run/record";
import { TIMING } from "../run/timing";

/** Maximum batches per turn. */
const BATCHES = 20;
const CALL = { deadlineMs: TIMING.erasePage } as const;

type Metadata = Pick<Erasure, "eraseMetadata">;

export interface RelayedManyErasuresOptions {
  stores: Pick<Stores, "erasures" | "payloads" | "rows">;
  burying: Burying;
  erasures: { usage: Metadata; billing: Metadata; identity: Metadata };
  carriersOf: Carrying;
}

export const createRelayedManyErasures = (options: RelayedManyErasuresOptions): RelayedRows<ErasureRecord> => {
  const { stores, burying, erasures: services, carriersOf } = options;
  const { erasures, payloads, rows } = stores;

  const partOf = ({ _id: erasure, selection }: ErasureRecord): BuriedBy => ({
    ...(metadataOfSelection(selection) ? { withKept: true as const } : {}),
    erasure,
  });

  const forgetRefused = async (erasure: ErasureRecord): Promise<void> => {
    for (const { _id, attempt } of await erasures.refuse(erasure, RUNS))
      if (await rows.forgetRefused(_id, attempt)) await payloads.removeOwned([_id], TEXTS_PAGE);
  };

  /**
   * Removes a metadata value in places other than runs. Budgets and the audit belong to the account, so a key with other fixed metadata
   * doesn't change them.
   */
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
    // No process works on these rows. An erasure can wait for runs that are under way.
    entriesOf: () => 0,
    staleMs: 0,
    settle: async ([records]) => {
      const erasure = records!;
      const entry = metadataOfSelection(erasure.selection);
      await burying.bury(await erasures.buriable(erasure, RUNS), partOf(erasure));
      await forgetRefused(erasure);
      if (entry) for (const batch of await erasures.batchesOver(erasure, BATCHES)) await burying.removeBatch(batch, partOf(erasure));
      if ((await erasures.countPending(erasure)) > 0) return true;
      // Erase the value twice: before and after the data of the last run is removed. Until then, runs can write usage rows.
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
