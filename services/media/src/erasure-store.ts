import { innerOwner, unavailable } from "@nodeloom/kernel";
import { createErasure, removeSome, untilNone, type Erase } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import type { Exports } from "./exports/exports";
import type { ObjectStore } from "./store/object-store";
import type { PurgeAll } from "./objects/purge";

const PAGE = 100;

export interface ErasureDeps {
  /** A connection that has the models. */
  connection: Connection;
  store: Pick<ObjectStore, "hideAllOf">;
  purgeAll: PurgeAll;
  exports: Pick<Exports, "remove">;
}

/** Erases an account's files, thumbnails and archives. Includes files that are already being removed. */
export const createEraseMedia = ({ connection, store, purgeAll, exports }: ErasureDeps): Erase => {
  const removeObjects = async (ownerId: string): Promise<number> => {
    const hidden = await store.hideAllOf(ownerId, new Date(), PAGE);
    if ((await purgeAll(hidden)) < hidden.length) throw unavailable("the bytes of a file can't be removed now");
    return hidden.length;
  };

  return createErasure<"media">((ownerId) => ({
    objects: async () => untilNone((await removeObjects(ownerId)) + (await removeObjects(innerOwner(ownerId)))),
    counts: async () => untilNone(await removeSome(connection.models.Count as never, { _id: ownerId }, 1)),
    grants: async () => untilNone(await removeSome(connection.models.Grant as never, { ownerId }, PAGE)),
    exports: async () => ({ removed: (await exports.remove(ownerId)) ? 1 : 0, next: "" }),
  }));
};
