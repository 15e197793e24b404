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
  /** Returns the file ids and keys (at most 1,000 are passed) that a workflow, version or cover refers to. */
  findNamed(names: string[]): Promise<readonly string[]>;
  /** Removes expired archives. @returns how many */
  removeExports(limit: number): Promise<number>;
  now?: () => Date;
}

/** Objects per call, removed one after the other. */
const PAGE = 100;
/** Longest time a file stays held without a decision; its run ends long before. */
const UNDECIDED_MS = 3 * 24 * 60 * 60 * 1_000;

/** Removes files after their retention period, and finishes interrupted quota changes and removals. */
export const createExpiry = ({
  store,
  quota,
  purge,
  findNamed,
  removeExports,
  now = () => new Date(),
}: ExpiryDeps): ((cursor: string) => Promise<Removal>) => {
  const abandonedBefore = (): Date => new Date(now().getTime() - ABANDONED_AFTER_MS);

  /** Continues after a full page of successful removals. Failed ones are retried the next day. */
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
   * Removes generated files that are neither kept nor in use. They are hidden first: a workflow saved later can't refer to a hidden file,
   * and one saved before is found by a second check.
   */
  const removeGenerated = async (cursor: string): Promise<RemovedPage> => {
    const page = await store.expiring(expiresBefore(RETENTION.generatedMedia, now()), PAGE, fromCursor(cursor));
    const last = page.at(-1);
    const next = last && page.length === PAGE ? toCursor({ at: last.createdAt, id: last.id }) : "";
    const { named, unnamed } = await byName(page.filter((object) => !isCounted(object)));
    // An interrupted call may have left them hidden.
    await restore(named);
    for (const object of unnamed) await store.expire(object, now());
    const hidden = await byName(await store.expired(unnamed.map(({ id }) => id)));
    await restore(hidden.named);
    return { removed: await removeHidden(hidden.unnamed), next };
  };

  return createRemoval({
    // Runs before the removals, because an object's record decides whether it counts.
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
