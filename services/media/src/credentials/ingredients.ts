import { buffer } from "node:stream/consumers";
import { isInnerOwner } from "@nodeloom/kernel";
import type { BlobStore } from "../blobs/blobs";
import type { MediaObject } from "../objects/media-object";
import { MAX_FILE_BYTES, SIGNED_TYPES, type Ingredient } from "./claim";

/** Files that a new one was made from. */
export interface Sources {
  ownerId: string;
  /** Ids and addresses, as a making lists them. */
  references: readonly string[];
  /** Sources that are stored here. */
  objects: readonly MediaObject[];
}

/** Uploads can have any manifest; a file of a run has one if it was signed. */
const canHaveManifest = ({ origin, contentType, signed }: MediaObject): boolean =>
  SIGNED_TYPES.has(contentType) && (origin === "upload" || signed === true);

/** An ingredient that says nothing of its file. */
const UNKNOWN: Ingredient = {};

/**
 * Reads the sources of a file, for its manifest. Files of others, and all sources within a hidden graph, are stated without anything about
 * them. Above a total size, sources are stated without their manifests.
 */
export const createIngredients =
  (blobs: Pick<BlobStore, "read">) =>
  async ({ ownerId, references, objects }: Sources): Promise<Ingredient[]> => {
    if (isInnerOwner(ownerId)) return references.length === 0 ? [] : [UNKNOWN];
    const own = new Map(objects.flatMap((object) => (object.ownerId === ownerId ? [[object.id, object]] : [])));
    let room = MAX_FILE_BYTES;
    const ingredients: Ingredient[] = [];
    for (const reference of references) {
      const object = own.get(reference);
      const fits = object && canHaveManifest(object) && object.bytes <= room;
      if (fits) room -= object.bytes;
      const stream = fits ? await blobs.read(object.blob) : undefined;
      ingredients.push(object ? { contentType: object.contentType, bytes: stream && (await buffer(stream)) } : UNKNOWN);
    }
    return ingredients;
  };
