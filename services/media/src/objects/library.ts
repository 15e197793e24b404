import { createHash } from "node:crypto";
import { CONFLICT_ATTEMPTS, DomainError, invalidRequest, isLonger, LIMITS, queryWords, unavailable } from "@nodeloom/kernel";
import { fromCursor, retryOnConflict, toCursor } from "@nodeloom/platform";
import type { BlobStore } from "../blobs/blobs";
import type { ObjectStore } from "../store/object-store";
import type { Objects } from "./objects";
import { isCounted, type MediaObject } from "../store/media-object";
import type { Purge } from "./purge";
import type { Quota } from "./quota";

/** Operations of owners on their stored files. */
export interface Library {
  /** @throws DomainError INVALID_REQUEST for an invalid cursor or a query that is too long */
  list(ownerId: string, limit: number, cursor: string, search?: Search): Promise<Page>;
  /** @throws DomainError NOT_FOUND */
  remove(id: string, ownerId: string): Promise<void>;
  /** @throws DomainError NOT_FOUND or MEDIA_QUOTA_EXCEEDED */
  keep(id: string, ownerId: string, quota: number | undefined): Promise<MediaObject>;
  /** Makes a file public or private. Everyone can read the unsigned URL of a public file. @throws DomainError NOT_FOUND */
  setPublic(id: string, ownerId: string, isPublic: boolean): Promise<MediaObject>;
  /** Copies files. Returns the copies by the ids of their originals. @throws DomainError MEDIA_QUOTA_EXCEEDED */
  copy(request: Copying): Promise<Map<string, MediaObject>>;
}

export interface Search {
  /** Words, or their beginnings, that a file must have; empty for all files. */
  query: string;
  /** Excludes older files. */
  from?: Date | undefined;
}

export interface Page {
  objects: MediaObject[];
  nextCursor: string;
  usedBytes: number;
}

export interface Copying {
  ids: readonly string[];
  ownerId: string;
  newOwnerId: string;
  /** Idempotency key of the copy. */
  reference: string;
  quota: number | undefined;
}

export interface LibraryDeps {
  store: ObjectStore;
  blobs: BlobStore;
  quota: Quota;
  objects: Objects;
  purge: Purge;
}

const COPIES_AT_ONCE = 4;

const cursorAfter = ({ id, createdAt }: MediaObject): string => toCursor({ at: createdAt, id });

const notFound = (): DomainError => new DomainError("not_found", "NOT_FOUND", "media not found");

const copyId = (reference: string, id: string): string =>
  createHash("sha256").update(`copy\n${reference}\n${id}`).digest("hex").slice(0, 32);

export const createLibrary = ({ store, blobs, quota, objects, purge }: LibraryDeps): Library => {
  /** Removes the object. Returns false if it has changed since it was read. */
  const removeAsRead = async (object: MediaObject): Promise<boolean> => {
    const hide = (token: string): Promise<boolean> => store.hide(object, token, new Date());
    const isHidden = isCounted(object) ? await quota.remove(object, hide) : await hide("removed");
    if (isHidden) await purge(object);
    return isHidden;
  };

  const owned = async (id: string, ownerId: string): Promise<MediaObject> => {
    const object = await store.ofOwner(id, ownerId);
    if (!object) throw notFound();
    return object;
  };

  /** Opened lazily, because an existing copy needs no bytes. */
  async function* bytesOf({ id, blob }: MediaObject): AsyncIterable<Uint8Array> {
    const bytes = await blobs.read(blob);
    if (!bytes) throw new Error(`the bytes of ${id} are missing`);
    yield* bytes as AsyncIterable<Uint8Array>;
  }

  const copyOne = (object: MediaObject, { newOwnerId, reference, quota: max }: Copying): Promise<MediaObject> =>
    objects.upload(
      {
        ...{ id: copyId(reference, object.id), ownerId: newOwnerId, accept: [], origin: "upload", quota: max },
        ...{ sourceType: object.sourceType, contentHash: object.contentHash },
      },
      bytesOf(object),
    );

  return {
    list: async (ownerId, limit, cursor, { query, from } = { query: "" }) => {
      if (limit < 1 || limit > LIMITS.pageRows)
        throw invalidRequest([{ path: "limit", message: `must be between 1 and ${LIMITS.pageRows}` }]);
      if (isLonger(query, LIMITS.searchChars))
        throw invalidRequest([{ path: "q", message: `must have at most ${LIMITS.searchChars} characters` }]);
      const after = fromCursor(cursor);
      const words = queryWords(query);
      // A query of punctuation alone has no words, and finds nothing.
      const isNothing = query.trim() !== "" && words.length === 0;
      const [rows, usedBytes] = await Promise.all([
        isNothing ? [] : store.list(ownerId, limit + 1, after, { words, from }),
        quota.used(ownerId),
      ]);
      const page = rows.slice(0, limit);
      return { objects: page, nextCursor: rows.length > limit ? cursorAfter(page.at(-1)!) : "", usedBytes };
    },
    remove: async (id, ownerId) => {
      const attempt = async (): Promise<true | undefined> => (await removeAsRead(await owned(id, ownerId))) || undefined;
      if (!(await retryOnConflict(CONFLICT_ATTEMPTS.mediaRemoval, attempt))) throw unavailable("the file is being changed by others");
    },
    keep: async (id, ownerId, max) => {
      const object = await owned(id, ownerId);
      if (isCounted(object)) return object;
      await quota.add(object, max, (token) => store.count(id, ownerId, token));
      return owned(id, ownerId);
    },
    setPublic: async (id, ownerId, isPublic) => {
      const object = await store.setPublic(id, ownerId, isPublic);
      if (!object) throw notFound();
      return object;
    },
    copy: async (copying) => {
      const sources = await objects.getAll(copying.ids, copying.ownerId);
      const bytes = sources.reduce((sum, object) => sum + object.bytes, 0);
      await quota.check(copying.newOwnerId, bytes, copying.quota);
      const copies = new Map<string, MediaObject>();
      for (let from = 0; from < sources.length; from += COPIES_AT_ONCE) {
        const batch = sources.slice(from, from + COPIES_AT_ONCE);
        const copied = await Promise.all(batch.map((object) => copyOne(object, copying)));
        batch.forEach((object, index) => copies.set(object.id, copied[index]!));
      }
      return copies;
    },
  };
};
