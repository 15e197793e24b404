import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import { createRemoval, fromCursor, toCursor, untilNone, type RemovedPage, type Removal } from "@nodeloom/platform";
import type { ObjectStore } from "./object-store";
import { isCounted, type MediaObject } from "./media-object";
import type { Purge } from "./purge";
import { ABANDONED_AFTER_MS, type Quota } from "./quota";

export interface ExpiryDeps {
  store: Pick<ObjectStore, "expiring" | "expire" | "expired" | "restore" | "condemn" | "hidden">;
  quota: Pick<Quota, "finishAbandoned">;
  purge: Purge;
  /** Those of some ids and keys of files that a workflow, a version or a picture of one names; at most 1,000 are asked for. */
  findNamed(names: string[]): Promise<readonly string[]>;
  /** Removes some archives of accounts whose time is over. @returns how many */
  removeExports(limit: number): Promise<number>;
  now?: () => Date;
}

/** Each object of a page is hidden and its bytes are removed one after the other, within one call. */
const PAGE = 100;
/** How long a file may be held without a decision: its run is over long before. */
const UNDECIDED_MS = 3 * 24 * 60 * 60 * 1_000;

/**
 * Removes files that were kept as long as the table of retention says, and finishes what a crash cut short: changes of the quota,
 * removals.
 */
export const createExpiry = ({
  store,
  quota,
  purge,
  findNamed,
  removeExports,
  now = () => new Date(),
}: ExpiryDeps): ((cursor: string) => Promise<Removal>) => {
  const abandonedBefore = (): Date => new Date(now().getTime() - ABANDONED_AFTER_MS);

  /** Goes on as long as all of a full page could be finished: what can't be is tried again the next day. */
  const whileFull = (removed: number): RemovedPage => ({ removed, next: removed < PAGE ? "" : "again" });

  const byName = async (objects: readonly MediaObject[]): Promise<{ named: string[]; unnamed: MediaObject[] }> => {
    const found = new Set(objects.length === 0 ? [] : await findNamed(objects.flatMap(({ id, key }) => [id, key])));
    const isNamed = ({ id, key }: MediaObject): boolean => found.has(id) || found.has(key);
    return { named: objects.filter(isNamed).map(({ id }) => id), unnamed: objects.filter((object) => !isNamed(object)) };
  };

  const restore = async (ids: string[]): Promise<void> => void (ids.length > 0 && (await store.restore(ids)));

  const removeHidden = async (objects: readonly MediaObject[]): Promise<number> => {
    let removed = 0;
    for (const object of objects) {
      if (!(await store.condemn(object.id))) continue;
      await purge(object);
      removed += 1;
    }
    return removed;
  };

  /**
   * Generated files that are neither kept nor named. They are hidden before they are removed: a workflow that is saved after that
   * can't name a hidden file, and one that was saved before is found by asking once more.
   */
  const removeGenerated = async (cursor: string): Promise<RemovedPage> => {
    const page = await store.expiring(expiresBefore(RETENTION.generatedMedia, now()), PAGE, fromCursor(cursor));
    const last = page.at(-1);
    const next = last && page.length === PAGE ? toCursor({ at: last.createdAt, id: last.id }) : "";
    const { named, unnamed } = await byName(page.filter((object) => !isCounted(object)));
    // A call that was cut short may have left them hidden.
    await restore(named);
    for (const object of unnamed) await store.expire(object, now());
    const hidden = await byName(await store.expired(unnamed.map(({ id }) => id)));
    await restore(hidden.named);
    return { removed: await removeHidden(hidden.unnamed), next };
  };

  return createRemoval({
    // Before the removals: whether an object counts stands on its record.
    quotaChanges: async () => whileFull(await quota.finishAbandoned(abandonedBefore(), PAGE)),
    deletedMedia: async () => {
      const hidden = await store.hidden(abandonedBefore(), new Date(now().getTime() - UNDECIDED_MS), PAGE);
      let removed = 0;
      for (const object of hidden) if (await purge(object)) removed += 1;
      return whileFull(removed);
    },
    accountExports: async () => untilNone(await removeExports(PAGE)),
    generatedMedia: removeGenerated,
  });
};
