import type { BlobStore } from "../blobs/blobs";
import type { GrantStore } from "../urls/grant-store";
import type { MediaObject } from "./media-object";
import type { ObjectStore } from "./object-store";

export interface PurgeDeps {
  store: Pick<ObjectStore, "purge" | "thumbnails">;
  blobs: Pick<BlobStore, "remove">;
  grants?: Pick<GrantStore, "removeFor"> | undefined;
  /** Called when bytes could not be removed. */
  warn(error: unknown, object: MediaObject): void;
}

/** Removes the bytes and the record of a hidden object. False on failure; `RemoveExpired` then retries. */
export type Purge = (object: MediaObject) => Promise<boolean>;

export const createPurge =
  ({ store, blobs, grants, warn }: PurgeDeps): Purge =>
  async (object) => {
    try {
      // Hidden objects get no new thumbnails.
      const thumbnails = await store.thumbnails(object.id);
      for (const { blob } of [object, ...thumbnails]) await blobs.remove(blob);
      await grants?.removeFor(object.key);
      await store.purge(object.id);
      return true;
    } catch (error) {
      warn(error, object);
      return false;
    }
  };
