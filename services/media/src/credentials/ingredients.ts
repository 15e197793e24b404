import { isInnerOwner } from "@nodeloom/kernel";
import type { BlobStore } from "../blobs/blobs";
import type { MediaObject } from "../store/media-object";
import { MAX_FILE_BYTES, SIGNED_TYPES, type Ingredient } from "./claim";
import { readSource } from "./source-part";

/** Files from which a new file was made. */
export interface Sources {
  ownerId: string;
  /** Ids and URLs, as listed in a `Making`. */
  references: readonly string[];
  /** Sources in media storage. */
  objects: readonly MediaObject[];
}

/** Uploads can have any manifest. A file that a run generated has one only if it was signed. */
const canHaveManifest = ({ origin, contentType, signed }: MediaObject): boolean =>
  SIGNED_TYPES.has(contentType) && (origin === "upload" || signed === true);

/** An ingredient without any information about its file. */
const UNKNOWN: Ingredient = {};

/**
 * Reads the sources of a file for its manifest. Other users' files, and all sources within a hidden graph, are listed without information.
 * Above a total size, sources are listed without their manifests.
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
      const bytes = fits ? await readSource(blobs, object) : undefined;
      ingredients.push(object ? { contentType: object.contentType, bytes } : UNKNOWN);
    }
    return ingredients;
  };
