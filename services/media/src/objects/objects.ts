import { DomainError, invalidRequest, LIMITS } from "@nodeloom/kernel";
import { retry } from "@nodeloom/platform";
import type { BlobStore } from "../blobs/blobs";
import { checkFinding, checkMaking } from "../store/making";
import { describeSource, SourceError } from "../source";
import type { MediaObject } from "../store/media-object";
import type { ObjectStore } from "../store/object-store";
import type { Purge } from "./purge";
import { sameOwner, type Placement, type Receive } from "./receiving";
import type { Quota } from "./quota";

export interface Source {
  url: string;
  /** True if a user chose the URL; false if a provider returned it. */
  byUser: boolean;
}

export interface Objects {
  /** Copies an http, https or data URL to media storage. Idempotent by id. */
  ingest(placement: Placement, source: Source): Promise<MediaObject>;
  /** Stores a stream of bytes. Idempotent by id. */
  upload(placement: Placement, bytes: AsyncIterable<Uint8Array>): Promise<MediaObject>;
  /**
   * The owner's objects with these ids.
   * @throws DomainError INVALID_REQUEST for too many ids
   */
  getAll(ids: readonly string[], ownerId: string, withHeld?: boolean): Promise<MediaObject[]>;
  /**
   * Releases or removes held objects. Objects that aren't held stay unchanged.
   * @throws DomainError INVALID_REQUEST for too many ids
   */
  decideHeld(ids: readonly string[], ownerId: string, letsGo: boolean): Promise<void>;
  /**
   * Objects with these keys, of any owner.
   * @throws DomainError INVALID_REQUEST for too many keys
   */
  byKeys(keys: readonly string[]): Promise<MediaObject[]>;
  /**
   * Restarts the retention period of the owner's objects.
   * @returns the objects
   * @throws DomainError INVALID_REQUEST for too many keys
   */
  renew(keys: readonly string[], ownerId: string): Promise<MediaObject[]>;
  /**
   * Moves objects from one owner to another.
   * @throws DomainError INVALID_REQUEST for too many keys
   */
  give(keys: readonly string[], fromOwnerId: string, ownerId: string): Promise<void>;
  /**
   * Returns an object of any owner, with its bytes.
   * @throws DomainError NOT_FOUND
   */
  read(key: string): Promise<{ object: MediaObject; bytes: AsyncIterable<Uint8Array> }>;
}

export interface ObjectsDeps {
  store: ObjectStore;
  quota: Pick<Quota, "check">;
  blobs: Pick<BlobStore, "read">;
  receive: Receive;
  openSource(source: Source, ownerId: string): Promise<AsyncIterable<Uint8Array>>;
  purge: Purge;
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
/** Maximum number of ingested ids kept in memory. A forgotten id costs one unnecessary fetch. */
const REMEMBERED_INGESTS = 10_000;
/** Pauses between fetch attempts. A provider can be unreachable for some seconds after it made a file. */
const FETCH_PAUSES_MS = [250, 500, 1_000, 2_000, 4_000];

const notFound = (): DomainError => new DomainError("not_found", "NOT_FOUND", "media not found");

const checkPlacement = ({ id, ownerId, making, ...finding }: Placement): void => {
  const issues = [];
  if (id !== "" && !ID.test(id)) issues.push({ path: "id", message: "must be 1 to 200 letters, digits, dots, underscores or hyphens" });
  if (ownerId === "") issues.push({ path: "ownerId", message: "is required" });
  if (issues.length > 0) throw invalidRequest(issues);
  if (making) checkMaking(making);
  checkFinding(finding);
};

const asFailedSource = (error: unknown, url: string): unknown => {
  const fails = error instanceof SourceError || (error instanceof DomainError && error.kind === "invalid");
  return fails ? new DomainError("failed", "EXECUTION_FAILED", `${describeSource(url)}: ${error.message}`) : error;
};

/** @throws DomainError INVALID_REQUEST if a lookup has too many values */
const atMostIds = (values: readonly string[], path: string): string[] => {
  const distinct = [...new Set(values)];
  if (distinct.length > LIMITS.mediaIds) throw invalidRequest([{ path, message: `at most ${LIMITS.mediaIds} are allowed` }]);
  return distinct;
};

export const createObjects = ({ store, quota, blobs, receive, openSource, purge }: ObjectsDeps): Objects => {
  /** Ingests in progress, so that two calls for the same id fetch the file once. */
  const ingesting = new Map<string, Promise<MediaObject>>();
  /**
   * Ids that this process ingested, whose files are probably stored. Files of other ids are fetched immediately; the insert detects an
   * existing one.
   */
  const ingested = new Set<string>();

  const existing = async ({ id, ownerId, held }: Placement): Promise<MediaObject | undefined> => {
    const object = id === "" ? undefined : await (held ? store.byIdOrHeld(id) : store.byId(id));
    return object && sameOwner(object, ownerId);
  };

  const fetchOnce = async (placement: Placement, source: Source): Promise<MediaObject> => {
    try {
      return await receive(placement, await openSource(source, placement.ownerId));
    } catch (error) {
      // A crashed process may have stored the file, and its source may no longer exist.
      const object = await existing(placement);
      if (!object) throw error;
      return object;
    }
  };

  const fetchInto = async (placement: Placement, source: Source): Promise<MediaObject> => {
    try {
      return await retry(() => fetchOnce(placement, source), {
        pausesMs: FETCH_PAUSES_MS,
        shouldRetry: (error) => error instanceof SourceError && error.transient,
      });
    } catch (error) {
      throw asFailedSource(error, source.url);
    }
  };

  const withHeldOnes = async (ids: readonly string[], ownerId: string): Promise<MediaObject[]> => {
    const heldObjects = await store.heldOfOwner(ids, ownerId);
    const shownObjects = await store.allOfOwner(ids, ownerId);
    const isShown = new Set(shownObjects.map(({ id }) => id));
    return [...shownObjects, ...heldObjects.filter(({ id }) => !isShown.has(id))];
  };

  return {
    ingest: async (placement, source) => {
      checkPlacement(placement);
      const { id, ownerId } = placement;
      const running = id === "" ? undefined : ingesting.get(id);
      if (running) return sameOwner(await running, ownerId);
      if (id === "") return fetchInto(placement, source);
      const existingObject = ingested.has(id) ? existing(placement) : Promise.resolve(undefined);
      const task = existingObject.then((object) => object ?? fetchInto(placement, source));
      ingesting.set(id, task);
      if (ingested.size >= REMEMBERED_INGESTS) ingested.clear();
      ingested.add(id);
      try {
        return await task;
      } finally {
        ingesting.delete(id);
      }
    },
    upload: async (placement, bytes) => {
      checkPlacement(placement);
      const existingObject = await existing(placement);
      if (existingObject) return existingObject;
      // Rejects an owner who is above the quota before bytes are received.
      if (placement.origin === "upload") await quota.check(placement.ownerId, 1, placement.quota);
      return receive(placement, bytes);
    },
    getAll: async (ids, ownerId, withHeld = false) => {
      const distinct = atMostIds(ids, "ids");
      if (distinct.length === 0) return [];
      const shownObjects = await store.allOfOwner(distinct, ownerId);
      // A file that is released between the two lookups is found by the second.
      return withHeld && shownObjects.length < distinct.length ? withHeldOnes(distinct, ownerId) : shownObjects;
    },
    decideHeld: async (ids, ownerId, letsGo) => {
      const distinct = atMostIds(ids, "ids");
      if (letsGo) return store.letGo(distinct, ownerId);
      for (const heldObject of await store.heldOfOwner(distinct, ownerId)) {
        if (await store.refuse(heldObject.id, ownerId)) await purge(heldObject);
      }
    },
    byKeys: async (keys) => {
      const distinct = atMostIds(keys, "keys");
      return distinct.length === 0 ? [] : store.byKeys(distinct);
    },
    renew: async (keys, ownerId) => {
      const distinct = atMostIds(keys, "keys");
      return distinct.length === 0 ? [] : store.renew(distinct, ownerId, new Date());
    },
    give: async (keys, fromOwnerId, ownerId) => {
      const distinct = atMostIds(keys, "keys");
      if (distinct.length > 0) await store.give(distinct, fromOwnerId, ownerId);
    },
    read: async (key) => {
      const object = await store.byKey(key);
      const bytes = object && (await blobs.read(object.blob));
      if (!bytes) throw notFound();
      return { object, bytes: bytes as AsyncIterable<Uint8Array> };
    },
  };
};
