import type { ListPosition } from "@nodeloom/platform";
import type { Width } from "./widths";
import type { MediaObject, Thumbnail } from "./media-object";

/** An object with `isHidden`, which is true while it is being removed. */
export type RemovableObject = MediaObject & { isHidden: boolean };

/** Records of stored files. Reads exclude objects that are being removed. */
export interface ObjectStore {
  /** Inserts the object unless its id is taken. Returns the object with the id, or undefined if that object is being removed. */
  insert(object: MediaObject): Promise<MediaObject | undefined>;
  byId(id: string): Promise<MediaObject | undefined>;
  byIdOrHeld(id: string): Promise<MediaObject | undefined>;
  ofOwner(id: string, ownerId: string): Promise<MediaObject | undefined>;
  /** Returns the owner's objects with these ids. */
  allOfOwner(ids: readonly string[], ownerId: string): Promise<MediaObject[]>;
  /** Returns the owner's held objects with these ids. */
  heldOfOwner(ids: readonly string[], ownerId: string): Promise<MediaObject[]>;
  byKey(key: string): Promise<MediaObject | undefined>;
  byKeys(keys: readonly string[]): Promise<MediaObject[]>;
  /** Returns a held object for a reader whose URL has `look`. */
  heldByKey(key: string, look: string): Promise<MediaObject | undefined>;
  /** Releases held objects, so that they can be read. */
  letGo(ids: readonly string[], ownerId: string): Promise<void>;
  /** Starts the removal of a held object. Returns false if it isn't held. */
  refuse(id: string, ownerId: string): Promise<boolean>;
  /** Makes an owner's object public or private. @returns the object */
  setPublic(id: string, ownerId: string, isPublic: boolean): Promise<MediaObject | undefined>;
  /** Lists objects with words that begin like each of `words`, newest first. */
  list(
    ownerId: string,
    limit: number,
    after: ListPosition | undefined,
    search: { words: readonly string[]; from: Date | undefined },
  ): Promise<MediaObject[]>;
  /** Restarts the retention period of the owner's objects. @returns the objects */
  renew(keys: readonly string[], ownerId: string, at: Date): Promise<MediaObject[]>;
  /** Moves objects from one owner to another. */
  give(keys: readonly string[], fromOwnerId: string, ownerId: string): Promise<void>;
  /**
   * Objects that aren't kept and were neither created nor renewed since `before`, oldest first. Includes objects already hidden as expired.
   */
  expiring(before: Date, limit: number, after: ListPosition | undefined): Promise<MediaObject[]>;
  /** Adds a thumbnail. Returns false if the object has one of this width or doesn't exist. */
  addThumbnail(id: string, width: Width, thumbnail: Thumbnail): Promise<boolean>;
  /** Returns the thumbnails of these objects, even of objects that are being removed. */
  thumbnails(ids: readonly string[]): Promise<Thumbnail[]>;
  /** Sets the quota token, unless the object already has one. */
  count(id: string, ownerId: string, token: string): Promise<boolean>;
  /** Starts a removal and hides the object from readers. Returns false if the object has changed since it was read. */
  hide(object: MediaObject, token: string, at: Date): Promise<boolean>;
  /** Hides objects as expired, unless they are kept or were renewed since `before`. */
  expire(ids: readonly string[], before: Date, at: Date): Promise<void>;
  /** Returns the objects with these ids that are hidden as expired. */
  expired(ids: readonly string[]): Promise<MediaObject[]>;
  /** Makes objects that are hidden as expired readable again. @returns the number of objects */
  restore(ids: readonly string[]): Promise<number>;
  /** Makes the expiry of objects final. @returns the objects that were hidden as expired */
  condemn(ids: readonly string[]): Promise<MediaObject[]>;
  /** Objects whose removal started before `before`, and objects held since before `heldBefore`. Excludes objects hidden as expired. */
  hidden(before: Date, heldBefore: Date, limit: number): Promise<MediaObject[]>;
  /** Hides some of an owner's objects permanently. Includes objects already hidden. @returns the objects */
  hideAllOf(ownerId: string, at: Date, limit: number): Promise<MediaObject[]>;
  /**
   * Owners' generated objects whose ids start with `prefix`, ordered by id, after the id `after`. Includes objects that are being removed.
   */
  generatedBy(prefix: string, ownerIds: readonly string[], limit: number, after: string): Promise<RemovableObject[]>;
  /** Owners' generated objects with these ids or keys. Includes objects that are being removed. */
  generatedAmong(names: readonly string[], ownerIds: readonly string[]): Promise<RemovableObject[]>;
  /** Removes the texts that are stored with owners' generated objects whose ids start with `prefix`. */
  forgetInputs(prefix: string, ownerIds: readonly string[]): Promise<void>;
  /** The quota token and the removal token of an object, even while it is being removed. Undefined if the object doesn't exist. */
  marks(id: string): Promise<{ countedBy: string | undefined; removal: string | undefined } | undefined>;
  /** Deletes the records of objects that are being removed. */
  purge(ids: readonly string[]): Promise<void>;
  /** @throws if the database is unreachable */
  check(): Promise<void>;
}
