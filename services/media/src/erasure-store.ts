import { innerOwner, unavailable } from "@nodeloom/kernel";
import { createErasure, removeSome, untilNone, type Erase } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import type { Exports } from "./exports/exports";
import type { ObjectStore } from "./objects/object-store";
import type { Purge } from "./objects/purge";

/** Objects that one call removes, each with its bytes. */
const PAGE = 100;

export interface ErasureDeps {
  /** Has the models. */
  connection: Connection;
  store: Pick<ObjectStore, "hideAllOf">;
  purge: Purge;
  exports: Pick<Exports, "remove">;
}

/** What media erases of an account: files with their thumbnails and bytes, whether they were being removed or not. */
export const createEraseMedia = ({ connection, store, purge, exports }: ErasureDeps): Erase => {
  const removeObjects = async (ownerId: string): Promise<number> => {
    const hidden = await store.hideAllOf(ownerId, new Date(), PAGE);
    for (const object of hidden) if (!(await purge(object))) throw unavailable("the bytes of a file can't be removed now");
    return hidden.length;
  };

  return createErasure<"media">((ownerId) => ({
    objects: async () => untilNone((await removeObjects(ownerId)) + (await removeObjects(innerOwner(ownerId)))),
    counts: async () => untilNone(await removeSome(connection.models.Count as never, { _id: ownerId }, 1)),
    exports: async () => ({ removed: (await exports.remove(ownerId)) ? 1 : 0, next: "" }),
  }));
};
