import { randomUUID } from "node:crypto";
import { DomainError, unavailable } from "@nodeloom/kernel";
import type { ObjectStore } from "../store/object-store";
import type { MediaObject } from "../store/media-object";

/**
 * Counts the bytes of an owner's uploaded and kept files. One document per owner stores the sum and an entry for each unfinished change
 * that also changes an object. Another process can finish an abandoned entry, because the object's tokens show which updates were made.
 * Nothing is counted twice or lost after a crash.
 */
export interface Entry {
  token: string;
  objectId: string;
  bytes: number;
  at: Date;
}

export interface ByteCount {
  ownerId: string;
  bytes: number;
  entries: Entry[];
}

export interface CountStore {
  read(ownerId: string): Promise<ByteCount | undefined>;
  /** Creates an owner's count with zero bytes, unless it exists. */
  create(ownerId: string): Promise<void>;
  /** Adds the entry and its bytes, if the sum stays within `max`. */
  reserve(ownerId: string, entry: Entry, max: number | undefined): Promise<boolean>;
  /** Adds an entry whose bytes are already counted. */
  open(ownerId: string, entry: Entry): Promise<void>;
  /** Removes an entry. Its bytes stay counted or are subtracted. Idempotent. */
  close(ownerId: string, entry: Pick<Entry, "token" | "bytes">, counts: boolean): Promise<void>;
  /** Counts that have entries from before a time. */
  abandoned(before: Date, limit: number): Promise<ByteCount[]>;
}

export interface Quota {
  used(ownerId: string): Promise<number>;
  /** @throws DomainError MEDIA_QUOTA_EXCEEDED if adding these bytes exceeds the quota */
  check(ownerId: string, bytes: number, max: number | undefined): Promise<void>;
  /**
   * Counts an object. `mark` writes the token to the object; it returns false if the object already counts or doesn't exist.
   * @throws DomainError MEDIA_QUOTA_EXCEEDED
   */
  add(target: Target, max: number | undefined, mark: (token: string) => Promise<boolean>): Promise<boolean>;
  /** Stops counting an object. `mark` starts its removal; it returns false if another call has started it or the object has changed. */
  remove(object: MediaObject, mark: (token: string) => Promise<boolean>): Promise<boolean>;
  /** Finishes changes that were interrupted before a time. @returns the number of owners */
  finishAbandoned(before: Date, limit: number): Promise<number>;
}

export type Target = Pick<MediaObject, "id" | "ownerId" | "bytes">;

/** Age after which other processes finish an entry. A change takes far less time. */
export const ABANDONED_AFTER_MS = 10 * 60 * 1_000;

const exceeded = (used: number, max: number): DomainError =>
  new DomainError(
    "forbidden",
    "MEDIA_QUOTA_EXCEEDED",
    `your plan allows ${max} bytes of files, and ${used} are in use: delete some files first`,
    {
      limit: max,
      used,
    },
  );

export const createQuota = ({ counts, objects }: { counts: CountStore; objects: ObjectStore }): Quota => {
  /** The owner's count. It is created on the first read, and therefore before the first change. */
  const read = async (ownerId: string): Promise<ByteCount> => {
    const count = await counts.read(ownerId);
    if (count) return count;
    await counts.create(ownerId);
    const created = await counts.read(ownerId);
    if (!created) throw unavailable("the count of stored bytes is not available");
    return created;
  };

  const finish = async ({ ownerId, entries }: ByteCount, before: Date): Promise<void> => {
    for (const entry of entries.filter(({ at }) => at < before)) {
      const marks = await objects.marks(entry.objectId);
      const isStillCounted = marks !== undefined && marks.removal !== entry.token && (marks.countedBy === entry.token || isRemoval(entry));
      await counts.close(ownerId, entry, isStillCounted);
    }
  };

  return {
    used: async (ownerId) => (await read(ownerId)).bytes,
    check: async (ownerId, bytes, max) => {
      if (max === undefined) return;
      const { bytes: used } = await read(ownerId);
      if (used + bytes > max) throw exceeded(used, max);
    },
    add: async ({ id, ownerId, bytes }, max, mark) => {
      const entry = { token: `add-${randomUUID()}`, objectId: id, bytes, at: new Date() };
      await read(ownerId);
      if (!(await counts.reserve(ownerId, entry, max))) {
        const { bytes: used } = await read(ownerId);
        if (max !== undefined && used + bytes > max) throw exceeded(used, max);
        throw unavailable("too many files of this account are being stored at once");
      }
      const isMarked = await mark(entry.token).catch(async (error: unknown) => {
        // After a rejection nothing has changed. After any other error, the object's tokens show the outcome later.
        if (error instanceof DomainError) await counts.close(ownerId, entry, false);
        throw error;
      });
      await counts.close(ownerId, entry, isMarked);
      return isMarked;
    },
    remove: async ({ id, ownerId, bytes }, mark) => {
      await read(ownerId);
      const entry = { token: `${REMOVAL}${randomUUID()}`, objectId: id, bytes, at: new Date() };
      await counts.open(ownerId, entry);
      const isMarked = await mark(entry.token);
      await counts.close(ownerId, entry, !isMarked);
      return isMarked;
    },
    finishAbandoned: async (before, limit) => {
      const abandonedCounts = await counts.abandoned(before, limit);
      for (const count of abandonedCounts) await finish(count, before);
      return abandonedCounts.length;
    },
  };
};

const REMOVAL = "remove-";
const isRemoval = ({ token }: Entry): boolean => token.startsWith(REMOVAL);
