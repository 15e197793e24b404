import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import { createRemoval, fromCursor, toCursor, untilNone, type RemovedPage, type Removal } from "@nodeloom/platform";
import type { ObjectStore } from "../store/object-store";
import type { MediaObject } from "../store/media-object";
import type { PurgeAll } from "./purge";
import { ABANDONED_AFTER_MS, type Quota } from "./quota";

export interface ExpiryDeps {
  store: Pick<ObjectStore, "expiring" | "expire" | "expired" | "restore" | "condemn" | "hidden">;
  quota: Pick<Quota, "finishAbandoned">;
  purgeAll: PurgeAll;
  /** Returns the file ids and keys that a workflow, version or cover refers to. At most 1,000 names are passed. */
  findNamed(names: string[]): Promise<readonly string[]>;
  /** Removes expired archives. @returns the number of removed archives */
  removeExports(limit: number): Promise<number>;
  now?: () => Date;
}

/** Objects per call. Each has two names, and `findNamed` accepts 1,000. */
const PAGE = 500;
/** Quota changes or archives per call. They are processed sequentially. */
const SMALL_PAGE = 100;
/** Maximum time that a file stays held without a decision. Its run ends long before. */
const UNDECIDED_MS = 3 * 24 * 60 * 60 * 1_000;

/** Removes files after their retention period. Also finishes interrupted quota changes and removals. */
export const createExpiry = ({
  store,
  quota,
  purgeAll,
  findNamed,
  removeExports,
  now = () => new Date(),
}: ExpiryDeps): ((cursor: string) => Promise<Removal>) => {
  const abandonedBefore = (): Date => new Date(now().getTime() - ABANDONED_AFTER_MS);

  /** Continues after a full page of successful removals. The next pass retries failed ones. */
  const whileFull = (removed: number, page: number): RemovedPage => ({ removed, next: removed < page ? "" : "again" });

  const byName = async (objects: readonly MediaObject[]): Promise<{ namedIds: string[]; unnamed: MediaObject[] }> => {
    const namedIds = new Set(objects.length === 0 ? [] : await findNamed(objects.flatMap(({ id, key }) => [id, key])));
    const isNamed = ({ id, key }: MediaObject): boolean => namedIds.has(id) || namedIds.has(key);
    return { namedIds: objects.filter(isNamed).map(({ id }) => id), unnamed: objects.filter((object) => !isNamed(object)) };
  };

  const restore = async (ids: string[]): Promise<void> => void (ids.length > 0 && (await store.restore(ids)));

  /**
   * Removes generated files that are neither kept nor in use. Files are hidden first, so that a workflow saved later can't refer to them. A
   * second check finds workflows that were saved before.
   */
  const removeGenerated = async (cursor: string): Promise<RemovedPage> => {
    const before = expiresBefore(RETENTION.generatedMedia, now());
    const page = await store.expiring(before, PAGE, fromCursor(cursor));
    const last = page.at(-1);
    const next = last && page.length === PAGE ? toCursor({ at: last.createdAt, id: last.id }) : "";
    const { namedIds, unnamed } = await byName(page);
    // An interrupted call may have left the files hidden.
    await restore(namedIds);
    const ids = unnamed.map(({ id }) => id);
    await store.expire(ids, before, now());
    const hidden = await byName(await store.expired(ids));
    await restore(hidden.namedIds);
    return { removed: await purgeAll(await store.condemn(hidden.unnamed.map(({ id }) => id))), next };
  };

  return createRemoval({
    // Runs before the removals, because an object's record decides whether the object counts.
    quotaChanges: async () => whileFull(await quota.finishAbandoned(abandonedBefore(), SMALL_PAGE), SMALL_PAGE),
    deletedMedia: async () => {
      const hidden = await store.hidden(abandonedBefore(), new Date(now().getTime() - UNDECIDED_MS), PAGE);
      return whileFull(await purgeAll(hidden), PAGE);
    },
    accountExports: async () => untilNone(await removeExports(SMALL_PAGE)),
    generatedMedia: removeGenerated,
  });
};
