import type { ListPosition } from "@nodeloom/platform";
import type { Width } from "../thumbnails/widths";
import type { MediaObject, Thumbnail } from "./media-object";

/** An object, and whether it is under removal. */
export type RemovableObject = MediaObject & { isHidden: boolean };

/** Records of stored files. Readers don't see objects under removal. */
export interface ObjectStore {
  /** Adds the object unless its id is taken. Returns the object with the id, or undefined if that one is under removal. */
  insert(object: MediaObject): Promise<MediaObject | undefined>;
  byId(id: string): Promise<MediaObject | undefined>;
  byIdOrHeld(id: string): Promise<MediaObject | undefined>;
  ofOwner(id: string, ownerId: string): Promise<MediaObject | undefined>;
  /** The owner's objects among the ids. */
  allOfOwner(ids: readonly string[], ownerId: string): Promise<MediaObject[]>;
  /** The owner's held objects among the ids. */
  heldOfOwner(ids: readonly string[], ownerId: string): Promise<MediaObject[]>;
  byKey(key: string): Promise<MediaObject | undefined>;
  byKeys(keys: readonly string[]): Promise<MediaObject[]>;
  /** A held object, for readers with its `look` URL. */
  heldByKey(key: string, look: string): Promise<MediaObject | undefined>;
  /** Makes held objects readable. */
  letGo(ids: readonly string[], ownerId: string): Promise<void>;
  /** Moves a held object into removal. False if it wasn't held. */
  refuse(id: string, ownerId: string): Promise<boolean>;
  /** Lets everyone read an owner's object, or makes it private. @returns it */
  setPublic(id: string, ownerId: string, isPublic: boolean): Promise<MediaObject | undefined>;
  /** Newest first. */
  list(ownerId: string, limit: number, after: ListPosition | undefined): Promise<MediaObject[]>;
  /** Restarts the retention period of the owner's objects. @returns them */
  renew(keys: readonly string[], ownerId: string, at: Date): Promise<MediaObject[]>;
  /** Moves objects from one owner to another. */
  give(keys: readonly string[], fromOwnerId: string, ownerId: string): Promise<void>;
  /** Objects without a keeper, neither created nor renewed since a time, oldest first, including expired ones. */
  expiring(before: Date, limit: number, after: ListPosition | undefined): Promise<MediaObject[]>;
  /** False if the object has a thumbnail of that width, or is gone. */
  addThumbnail(id: string, width: Width, thumbnail: Thumbnail): Promise<boolean>;
  /** Thumbnails of all these objects, including objects under removal. */
  thumbnails(ids: readonly string[]): Promise<Thumbnail[]>;
  /** Sets the quota token, unless the object already counts. */
  count(id: string, ownerId: string, token: string): Promise<boolean>;
  /** Starts a removal: no reader finds the object from here on. False if it has changed since it was read. */
  hide(object: MediaObject, token: string, at: Date): Promise<boolean>;
  /** Hides objects without a keeper as expired, unless they have been renewed since a time. */
  expire(ids: readonly string[], before: Date, at: Date): Promise<void>;
  /** Objects among the ids that are hidden as expired. */
  expired(ids: readonly string[]): Promise<MediaObject[]>;
  /** Makes objects hidden as expired readable again. @returns how many */
  restore(ids: readonly string[]): Promise<number>;
  /** Makes the expiry of objects final. @returns those that were hidden as expired */
  condemn(ids: readonly string[]): Promise<MediaObject[]>;
  /** Objects whose removal began before a time, and objects held since before another. Excludes those hidden as expired. */
  hidden(before: Date, heldBefore: Date, limit: number): Promise<MediaObject[]>;
  /** Hides some of an owner's objects for good, including hidden ones. @returns them */
  hideAllOf(ownerId: string, at: Date, limit: number): Promise<MediaObject[]>;
  /** An owner's generated objects whose ids begin with a text, in order, after one of them, including those under removal. */
  generatedBy(prefix: string, ownerIds: readonly string[], limit: number, after: string): Promise<RemovableObject[]>;
  /** An owner's generated objects by their ids or keys, including those under removal. */
  generatedAmong(names: readonly string[], ownerIds: readonly string[]): Promise<RemovableObject[]>;
  /** The quota token and the removal token, also during removal; undefined if the object doesn't exist. */
  marks(id: string): Promise<{ countedBy: string | undefined; removal: string | undefined } | undefined>;
  /** Deletes the records of objects under removal. */
  purge(ids: readonly string[]): Promise<void>;
  /** @throws if the database is unreachable */
  check(): Promise<void>;
}
