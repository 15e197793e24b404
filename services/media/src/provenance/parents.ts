import { isMediaId } from "@nodeloom/kernel";
import type { MediaObject } from "../store/media-object";
import type { ObjectStore } from "../store/object-store";
import { describeSource } from "../source";

export interface Parents {
  /**
   * Replaces parents' URLs with object ids, and removes possible secrets from external URLs.
   * @returns also the stored objects
   */
  find(references: readonly string[], ownerId: string): Promise<{ references: string[]; objects: MediaObject[] }>;
}

/** @param own URL prefix of files in media storage */
export const createParents = (store: Pick<ObjectStore, "allOfOwner" | "byKeys">, own: string): Parents => {
  const keyOf = (reference: string): string | undefined =>
    reference.startsWith(own) ? reference.slice(own.length).split(/[?#]/)[0] : undefined;

  return {
    find: async (references, ownerId) => {
      const keys = references.flatMap((reference) => keyOf(reference) ?? []);
      const ids = references.filter((reference) => isMediaId(reference));
      const [byKey, byId] = await Promise.all([
        keys.length === 0 ? [] : store.byKeys(keys),
        ids.length === 0 ? [] : store.allOfOwner(ids, ownerId),
      ]);
      const idsByKey = new Map(byKey.map(({ key, id }) => [key, id]));
      const idOf = (reference: string): string =>
        isMediaId(reference) ? reference : (idsByKey.get(keyOf(reference) ?? "") ?? describeSource(reference));
      const objects = new Map([...byKey, ...byId].map((object) => [object.id, object]));
      return { references: [...new Set(references.map(idOf))], objects: [...objects.values()] };
    },
  };
};
