import { DomainError } from "@nodeloom/kernel";
import type { MediaObject } from "../store/media-object";
import type { ObjectStore } from "../store/object-store";

export interface Provenance {
  object: MediaObject;
  /** The file's sources and, recursively, their sources; nearest first. */
  ancestors: MediaObject[];
  /** True if there are more ancestors than were looked up. */
  truncated: boolean;
}

/** Maximum levels and files. */
const MAX_DEPTH = 20;
const MAX_ANCESTORS = 200;

const parentsOf = (objects: readonly MediaObject[]): string[] => objects.flatMap(({ making }) => making?.parents ?? []);

/**
 * Returns the ancestors of an owner's file. Deleted files and other owners' files are excluded.
 * @throws DomainError NOT_FOUND
 */
export const createProvenance =
  (store: Pick<ObjectStore, "ofOwner" | "allOfOwner">) =>
  async (id: string, ownerId: string): Promise<Provenance> => {
    const object = await store.ofOwner(id, ownerId);
    if (!object) throw new DomainError("not_found", "NOT_FOUND", "media not found");
    const ancestors: MediaObject[] = [];
    const visited = new Set([id]);
    let level = [object];
    for (let depth = 0; level.length > 0; depth++) {
      const open = [...new Set(parentsOf(level))].filter((parent) => !visited.has(parent));
      if (open.length === 0) break;
      const room = MAX_ANCESTORS - ancestors.length;
      if (depth === MAX_DEPTH || room === 0) return { object, ancestors, truncated: true };
      const batch = open.slice(0, room);
      for (const parent of batch) visited.add(parent);
      level = await store.allOfOwner(batch, ownerId);
      ancestors.push(...level);
      if (batch.length < open.length) return { object, ancestors, truncated: true };
    }
    return { object, ancestors, truncated: false };
  };
