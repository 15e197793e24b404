/** Rules for who can read a file by its URL, and for how long. */

import { accountOf, innerOwner, invalidRequest, LIMITS } from "@nodeloom/kernel";
import { LRUCache } from "lru-cache";
import type { MediaObject } from "../store/media-object";
import type { ObjectStore } from "../store/object-store";
import type { GrantStore } from "./grant-store";
import type { Signatures } from "./signatures";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const VISITOR_MS = HOUR_MS;
/** Longer than any call of a provider, because a run ends after at most a day. */
const CALL_MS = 24 * HOUR_MS;
/** Time for which a file stays public after a workflow stops showing it, and cache lifetime of its responses. */
export const PUBLIC_MS = 300_000;
const REMEMBERED_SHOWN = 10_000;

export type Lifetime = "answer" | "visitor" | "call";

export interface SentUrl {
  key: string;
  expires: string;
  signature: string;
}

export interface Urls {
  /** Returns the queries of signed URLs by key, and the private files that the owner can't read. @throws DomainError INVALID_REQUEST */
  sign(keys: readonly string[], ownerId: string, lifetime: Lifetime): Promise<{ queries: Map<string, string>; refused: string[] }>;
  /** Returns the keys of private files that the owner can't read. Valid signatures become grants. @throws DomainError INVALID_REQUEST */
  admit(urls: readonly SentUrl[], ownerId: string, byVisitor: boolean): Promise<string[]>;
  /** Grants an owner access to files that another owner can read. @throws DomainError INVALID_REQUEST */
  grant(keys: readonly string[], fromOwnerId: string, ownerId: string): Promise<void>;
  /** Returns the public objects with these ids, of any owner. @throws DomainError INVALID_REQUEST */
  publicOnes(ids: readonly string[]): Promise<MediaObject[]>;
  /** Returns how a request can read an object: until its signature expires, as public, or not at all. */
  opens(object: MediaObject, sentUrl: Omit<SentUrl, "key"> | undefined): Promise<UrlAccess>;
}

/** `always` means that the file was created before files were private. */
export type UrlAccess = { as: "signed"; forMs: number } | { as: "public" } | { as: "always" } | { as: "refused" };

export interface UrlsOptions {
  objects: Pick<ObjectStore, "byId" | "byKeys">;
  grants: Pick<GrantStore, "add" | "among">;
  signatures: Signatures;
  hours: number;
  /** Returns the names of an owner's files that are shown to everyone. */
  findShown(names: string[], ownerId: string): Promise<string[]>;
  now?: () => number;
}

const atMost = (names: readonly string[], path = "keys"): string[] => {
  const distinct = [...new Set(names)];
  if (distinct.length > LIMITS.mediaIds) throw invalidRequest([{ path, message: `at most ${LIMITS.mediaIds} are allowed` }]);
  return distinct;
};

/** Owners of files that an account can read. Files created in a hidden graph can be read only for calls of its run. */
const ownersOf = (ownerId: string, lifetime: Lifetime): ReadonlySet<string> => {
  const account = accountOf(ownerId);
  return new Set(lifetime === "call" ? [account, innerOwner(account)] : [account]);
};

interface SortedObjects {
  own: MediaObject[];
  foreign: MediaObject[];
}

export const createUrls = ({ objects, grants, signatures, hours, findShown, now = Date.now }: UrlsOptions): Urls => {
  const shownObjects = new LRUCache<string, Promise<boolean>>({ max: REMEMBERED_SHOWN, ttl: PUBLIC_MS });

  const isShown = (object: MediaObject): Promise<boolean> => {
    const cached = shownObjects.get(object.id);
    if (cached) return cached;
    const pending = findShown([object.id, object.key], object.ownerId).then((names) => names.length > 0);
    shownObjects.set(object.id, pending);
    pending.catch(() => shownObjects.delete(object.id));
    return pending;
  };
  const isPublic = async (object: MediaObject): Promise<boolean> => object.public === true || isShown(object);
  const isOpen = async (object: MediaObject): Promise<boolean> => object.private !== true || isPublic(object);

  /** Groups objects by whether the account can read them, as their owner or by a grant. */
  const sorted = async (keys: readonly string[], ownerId: string, lifetime: Lifetime): Promise<SortedObjects> => {
    const keyObjects = await objects.byKeys(keys);
    const owners = ownersOf(ownerId, lifetime);
    const others = keyObjects.filter((object) => !owners.has(object.ownerId)).map(({ key }) => key);
    const granted = await grants.among(others, accountOf(ownerId));
    const isOwn = (object: MediaObject): boolean => owners.has(object.ownerId) || granted.has(object.key);
    return { own: keyObjects.filter(isOwn), foreign: keyObjects.filter((object) => !isOwn(object)) };
  };

  const closed = async (keyObjects: readonly MediaObject[]): Promise<MediaObject[]> => {
    const open = await Promise.all(keyObjects.map(isOpen));
    return keyObjects.filter((_, index) => !open[index]);
  };

  const expires = (lifetime: Lifetime): number => {
    const at = now() + { answer: hours * HOUR_MS, visitor: VISITOR_MS, call: CALL_MS }[lifetime];
    return (Math.ceil(at / HOUR_MS) * HOUR_MS) / SECOND_MS;
  };

  return {
    sign: async (keys, ownerId, lifetime) => {
      const { own, foreign } = await sorted(atMost(keys), ownerId, lifetime);
      const until = expires(lifetime);
      const queries = new Map(own.map(({ key }) => [key, signatures.sign(key, until)]));
      return { queries, refused: (await closed(foreign)).map(({ key }) => key) };
    },
    admit: async (urls, ownerId, byVisitor) => {
      const signed = new Set(urls.filter((url) => signatures.isValid(url.key, url, now())).map(({ key }) => key));
      const { own, foreign } = await sorted(atMost(urls.map(({ key }) => key)), ownerId, "answer");
      await grants.add(
        foreign.flatMap(({ key }) => (signed.has(key) ? [key] : [])),
        accountOf(ownerId),
      );
      const candidates = byVisitor ? [...own, ...foreign] : foreign;
      return (await closed(candidates.filter(({ key }) => !signed.has(key)))).map(({ key }) => key);
    },
    grant: async (keys, fromOwnerId, ownerId) => {
      const { own } = await sorted(atMost(keys), fromOwnerId, "answer");
      const lacking = own.filter((object) => object.private === true && object.ownerId !== accountOf(ownerId));
      await grants.add(
        lacking.map(({ key }) => key),
        accountOf(ownerId),
      );
    },
    publicOnes: async (ids) => {
      const existing = (await Promise.all(atMost(ids, "ids").map((id) => objects.byId(id)))).filter((object) => object !== undefined);
      const open = await Promise.all(existing.map(isPublic));
      return existing.filter((_, index) => open[index]);
    },
    opens: async (object, sentUrl) => {
      if (sentUrl && signatures.isValid(object.key, sentUrl, now()))
        return { as: "signed", forMs: Number(sentUrl.expires) * SECOND_MS - now() };
      if (object.private !== true && object.public !== true) return { as: "always" };
      return (await isOpen(object)) ? { as: "public" } : { as: "refused" };
    },
  };
};
