import { accountSuspended, DomainError } from "@nodeloom/kernel";
import type { Changes } from "../changes";
import { effectiveGrants, requireApiAccess } from "./grants";
import { createKeyCache, type ResolvedKey } from "./key-cache";
import type { KeyStore } from "./key-store";
import { classifyKeyValue, hashKeyValue } from "./key-value";
import type { KeyRecord } from "./records";
import type { Accounts } from "../organizations/accounts";

/** Keys created before this time have the retired, ranked scopes. */
const CAPABILITIES_SINCE_MS = Date.UTC(2026, 4, 1);
/** Resolution of `lastUsedAt`. */
const TOUCH_INTERVAL_MS = 60_000;
const MILLIS = 1_000;

export interface AuthenticatedKey extends ResolvedKey {
  /** The key's grants, limited by its owner's current ceiling and its creator's role. */
  effectiveCapabilities: string[];
}

export interface Authentication {
  /**
   * Resolves a key value.
   * @throws UNAUTHENTICATED for a malformed, unknown, revoked or expired value; LEGACY_KEY_RETIRED for an old value;
   *   ACCOUNT_SUSPENDED if the owner or creator is suspended; API_KEY_ACCESS_DENIED if the owner's tier has no API access
   */
  authenticate(value: string): Promise<AuthenticatedKey>;
  /** Resolves a key by id without the cache, for runs that start later on its behalf. It doesn't count as a use. */
  resolve(userId: string, keyId: string): Promise<AuthenticatedKey>;
  /** Waits for pending writes. */
  drain(): Promise<void>;
}

export interface AuthenticationOptions {
  store: KeyStore;
  accounts: Pick<Accounts, "holderOf">;
  changes: Changes;
  pepper: string;
  onTouchFailed?: (error: unknown) => void;
  clock?: () => number;
  cacheTtlMs?: number;
}

/** @param message names the cause only if the value's form shows it, or if the whole value matches a stored key */
const invalidKey = (message = "a valid API key (header x-api-key) or session is required"): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", message);
const malformed = (): DomainError => invalidKey("this isn't a whole API key: copy its value again, from nl_ to the end");
const expired = (): DomainError => invalidKey("the API key has expired: create another one");
const replaced = (): DomainError => invalidKey("the API key was rotated, and this value has ended: use the new value");
const retired = (): DomainError =>
  new DomainError("unauthenticated", "LEGACY_KEY_RETIRED", "keys created before May 2026 are retired; create a new one");

const hasEnded = (date: Date | null | undefined, nowMs: number): boolean => !!date && date.getTime() <= nowMs;

export const createAuthentication = (options: AuthenticationOptions): Authentication => {
  const { store, accounts, changes, pepper, onTouchFailed = () => undefined, clock = Date.now, cacheTtlMs } = options;

  const withHolder = async (key: KeyRecord | null): Promise<ResolvedKey | null> => {
    const holder = key && (await accounts.holderOf(key));
    return holder && { key, ...holder };
  };
  const load = async (hash: string): Promise<ResolvedKey | null> => withHolder(await store.findByHash(hash));
  const cache = createKeyCache({ load, ttlMs: cacheTtlMs });
  changes.onChange(cache.forget);

  const touching = new Set<Promise<void>>();
  const touch = (key: KeyRecord, nowMs: number): void => {
    const notSince = nowMs - TOUCH_INTERVAL_MS;
    if (key.lastUsedAt && key.lastUsedAt.getTime() >= notSince) return;
    // The cached record is updated immediately, so that its next uses don't write again.
    key.lastUsedAt = new Date(nowMs);
    const touchWrite = store.touch(key._id, new Date(nowMs), new Date(notSince)).catch(onTouchFailed);
    touching.add(touchWrite);
    void touchWrite.finally(() => touching.delete(touchWrite));
  };

  /** The first use of a new value sets the end of the previous value. It is awaited, so that the end is stored before the call returns. */
  const startGrace = async (key: KeyRecord, nowMs: number): Promise<void> => {
    if (!key.rotation || key.rotation.previousEndsAt) return;
    await store.startGrace(key, new Date(nowMs + key.rotation.graceSeconds * MILLIS));
    await changes.announce({ type: "key", id: key._id });
  };

  /** @throws the errors of `authenticate` */
  const requireUsable = ({ key, user, person }: ResolvedKey, nowMs: number): void => {
    if (key.createdAt.getTime() < CAPABILITIES_SINCE_MS) throw retired();
    if (hasEnded(key.expiresAt, nowMs)) throw expired();
    if (user.suspended || person.suspended) throw accountSuspended();
    requireApiAccess(user);
  };

  const authenticated = (resolved: ResolvedKey): AuthenticatedKey => ({
    ...resolved,
    effectiveCapabilities: effectiveGrants(resolved.key.capabilities, resolved),
  });

  return {
    resolve: async (userId, keyId) => {
      const resolved = await withHolder(await store.findOwned({ userId }, keyId));
      if (!resolved) throw invalidKey();
      requireUsable(resolved, clock());
      return authenticated(resolved);
    },

    authenticate: async (value) => {
      const kind = classifyKeyValue(value);
      if (kind === "legacy") throw retired();
      if (kind === "malformed") throw malformed();
      const hash = hashKeyValue(pepper, value);
      const resolved = await cache.get(hash);
      if (!resolved) throw invalidKey();
      const { key } = resolved;
      const now = clock();
      const isCurrent = key.hashes[0] === hash;
      if (!isCurrent && hasEnded(key.rotation?.previousEndsAt, now)) throw replaced();
      requireUsable(resolved, now);
      if (isCurrent) await startGrace(key, now);
      touch(key, now);
      return authenticated(resolved);
    },
    drain: async () => void (await Promise.all(touching)),
  };
};
