import type { BlobStore } from "../blobs/blobs";
import type { GrantStore } from "../urls/grant-store";
import type { MediaObject } from "../store/media-object";
import type { ObjectStore } from "../store/object-store";

export interface PurgeDeps {
  store: Pick<ObjectStore, "purge" | "thumbnails">;
  blobs: Pick<BlobStore, "removeAll">;
  grants?: Pick<GrantStore, "removeFor"> | undefined;
  /** Called if bytes couldn't be removed. */
  warn(error: unknown, object: MediaObject): void;
}

/** Removes the bytes and the record of a hidden object. Returns false on failure; `RemoveExpired` then retries. */
export type Purge = (object: MediaObject) => Promise<boolean>;
/** Removes many hidden objects, as `Purge` does. @returns the number of removed objects */
export type PurgeAll = (objects: readonly MediaObject[]) => Promise<number>;

/** Maximum blobs that a store removes at once. */
const MAX_BLOBS = 1_000;

export const createPurge = ({ store, blobs, grants, warn }: PurgeDeps): { purge: Purge; purgeAll: PurgeAll } => {
  const removeAll = async (objects: readonly MediaObject[]): Promise<void> => {
    const ids = objects.map(({ id }) => id);
    // No thumbnail can be added, because the objects are hidden.
    const names = [...objects, ...(await store.thumbnails(ids))].map(({ blob }) => blob);
    for (let from = 0; from < names.length; from += MAX_BLOBS) await blobs.removeAll(names.slice(from, from + MAX_BLOBS));
    await grants?.removeFor(objects.map(({ key }) => key));
    await store.purge(ids);
  };

  const purge: Purge = async (object) => {
    try {
      await removeAll([object]);
      return true;
    } catch (error) {
      warn(error, object);
      return false;
    }
  };

  return {
    purge,
    purgeAll: async (objects) => {
      if (objects.length === 0) return 0;
      try {
        await removeAll(objects);
        return objects.length;
      } catch {
        // Removed one by one, so that one failure doesn't keep the other files.
        let removed = 0;
        for (const object of objects) if (await purge(object)) removed += 1;
        return removed;
      }
    },
  };
};
