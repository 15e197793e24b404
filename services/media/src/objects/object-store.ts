import type { ListPosition } from "@nodeloom/platform";
import type { Width } from "../thumbnails/widths";
import type { MediaObject, Thumbnail } from "./media-object";

/** The records of stored files. What is being removed is not there for readers. */
export interface ObjectStore {
  /** Adds the object unless its id is taken; answers the object that has the id now, or undefined while that is being removed. */
  insert(object: MediaObject): Promise<MediaObject | undefined>;
  byId(id: string): Promise<MediaObject | undefined>;
  /** The same of one that may be held. */
  byIdOrHeld(id: string): Promise<MediaObject | undefined>;
  ofOwner(id: string, ownerId: string): Promise<MediaObject | undefined>;
  /** Those of the ids that are the owner's. */
  allOfOwner(ids: readonly string[], ownerId: string): Promise<MediaObject[]>;
  /** Those of them that are held. */
  heldOfOwner(ids: readonly string[], ownerId: string): Promise<MediaObject[]>;
  byKey(key: string): Promise<MediaObject | undefined>;
  byKeys(keys: readonly string[]): Promise<MediaObject[]>;
  /** One that is held, for the reader that its URL was given to. */
  heldByKey(key: string, look: string): Promise<MediaObject | undefined>;
  /** Shows readers those of some objects that are held. */
  letGo(ids: readonly string[], ownerId: string): Promise<void>;
  /** Turns one that is held into one under removal, which may be purged. False when it was not held. */
  refuse(id: string, ownerId: string): Promise<boolean>;
  /** Newest first. */
  list(ownerId: string, limit: number, after: ListPosition | undefined): Promise<MediaObject[]>;
  /** Has those of the keys that are the owner's kept from a moment on. @returns them */
  renew(keys: readonly string[], ownerId: string, at: Date): Promise<MediaObject[]>;
  /** Makes those of the keys another owner's that are one's. */
  give(keys: readonly string[], fromOwnerId: string, ownerId: string): Promise<void>;
  /** Neither created nor renewed since a moment, oldest first, those that have expired included. */
  expiring(before: Date, limit: number, after: ListPosition | undefined): Promise<MediaObject[]>;
  /** False when the object has one of that width already, or is gone. */
  addThumbnail(id: string, width: Width, thumbnail: Thumbnail): Promise<boolean>;
  /** Of an object, also while it is being removed. */
  thumbnails(id: string): Promise<Thumbnail[]>;
  /** Lets an object count against its owner's quota under a token, unless it counts already. */
  count(id: string, ownerId: string, token: string): Promise<boolean>;
  /** Begins a removal under a token: from here on nobody reads the object. False when it has changed since it was read. */
  hide(object: MediaObject, token: string, at: Date): Promise<boolean>;
  /** Hides an object for its age. False when it has changed since it was read. */
  expire(object: MediaObject, at: Date): Promise<boolean>;
  /** Those of some objects that are hidden for their age. */
  expired(ids: readonly string[]): Promise<MediaObject[]>;
  /** Shows those of some objects again that were hidden for their age. @returns how many */
  restore(ids: readonly string[]): Promise<number>;
  /** Ends that: what is hidden for its age is not shown again. False when it was not hidden so. */
  condemn(id: string): Promise<boolean>;
  /** Objects whose removal began before a moment, and those held since before another; not those that are hidden for their age. */
  hidden(before: Date, heldBefore: Date, limit: number): Promise<MediaObject[]>;
  /** Hides some of an owner's objects for good, those that are hidden already included. @returns them */
  hideAllOf(ownerId: string, at: Date, limit: number): Promise<MediaObject[]>;
  /** The tokens an object counts and is removed under, also while it is being removed; undefined when there is none. */
  marks(id: string): Promise<{ countedBy: string | undefined; removal: string | undefined } | undefined>;
  /** Forgets an object whose removal has begun. */
  purge(id: string): Promise<void>;
  /** Fails when the database can't be reached. */
  check(): Promise<void>;
}
