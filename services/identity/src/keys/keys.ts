import { randomUUID } from "node:crypto";
import { CONFLICT_ATTEMPTS, DomainError, invalidRequest, unavailable, type Issue } from "@nodeloom/kernel";
import { insertIntoFreePlace } from "@nodeloom/platform";
import type { Changes } from "../changes";
import {
  grantIssues,
  grantsFor,
  grantWarnings,
  requireKeyRights,
  requireMakersGrants,
  requireStanding,
  requireWebhookGrant,
} from "./grants";
import { aliasIssues, keyIssues, metadataIssues, nameIssues, type NewKey } from "./key-issues";
import type { KeyChange, KeyStore, Ownership } from "./key-store";
import { generateKeyValue, hashKeyValue, START_CHARS } from "./key-value";
import type { DeletedKeyRecord, KeyRecord } from "./records";
import type { SecretBox } from "./webhook-secrets";
import type { Accounts } from "../organizations/accounts";
import type { Users } from "../users/users";
import { newWebhook, newWebhookSecret, noSuchKey, webhookIssues, type AddressProblem } from "./webhooks";

export const MAX_GRACE_SECONDS = 86_400;

export interface IssuedKey {
  key: KeyRecord;
  /** The value is shown only once. */
  value: string;
  /** The secret is shown only once; empty without a webhook. */
  webhookSecret: string;
  warnings: string[];
}

/** Changes to a key. Absent members stay unchanged. */
export interface KeyEdit {
  name?: string;
  capabilities?: string[];
  metadata?: Record<string, string>;
  /** Alias that the key's runs can use; empty for any. */
  alias?: string;
}

/** Keys of an owner. Another owner's key is reported as NOT_FOUND. */
export interface Keys {
  /**
   * @throws INVALID_REQUEST, API_KEY_ACCESS_DENIED, ACCOUNT_NOT_APPROVED, CAPABILITY_ABOVE_CEILING, CAPABILITY_DENIED, or
   *   PRECONDITION_FAILED if the owner has too many keys
   */
  create(userId: string, newKey: NewKey): Promise<IssuedKey>;
  /** Keys that haven't expired. */
  /** @param ids only these keys */
  list(userId: string, ids?: readonly string[]): Promise<KeyRecord[]>;
  /** The newest deleted keys: their names, and never a value. */
  listDeleted(userId: string, ids?: readonly string[]): Promise<DeletedKeyRecord[]>;
  /** @throws INVALID_REQUEST or CAPABILITY_ABOVE_CEILING */
  edit(of: Ownership, keyId: string, edit: KeyEdit): Promise<{ key: KeyRecord; warnings: string[] }>;
  revoke(of: Ownership, keyId: string): Promise<void>;
  /**
   * Replaces the key's value and, with a webhook, adds a new secret. The old value works until `graceSeconds` after the first use of the
   * new value; with 0 it stops immediately. If the current value was never used, it is replaced and the previous value keeps working.
   */
  rotate(of: Ownership, keyId: string, graceSeconds: number): Promise<IssuedKey>;
}

export interface KeysOptions {
  store: KeyStore;
  users: Pick<Users, "get" | "find">;
  accounts: Pick<Accounts, "get" | "holderOf" | "ofService">;
  changes: Changes;
  secretBox: SecretBox;
  addressProblem: AddressProblem;
  pepper: string;
  /** The part `<env>` of new values. */
  environment: string;
  clock?: () => number;
}

const requireValid = (issues: Issue[]): void => {
  if (issues.length > 0) throw invalidRequest(issues);
};

const precondition = (message: string, metadata = {}): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", message, metadata);

const insertIntoFreeSlot = async (store: KeyStore, key: Omit<KeyRecord, "slot">, most: number): Promise<KeyRecord> => {
  const slot = await insertIntoFreePlace({
    places: most,
    attempts: CONFLICT_ATTEMPTS.apiKey,
    usedPlaces: () => store.slots(key.userId),
    insert: (free) => store.insert({ ...key, slot: free }),
    full: () => precondition(`at most ${most} keys; revoke one first`, { limit: most }),
  });
  if (slot === undefined) throw unavailable("too many keys are being created at once");
  return { ...key, slot };
};

/** The key's values after a rotation: the current value and, with a grace period, the previous one. */
const rotatedValues = (key: KeyRecord, next: string, graceSeconds: number): Pick<KeyRecord, "hashes" | "rotation"> => {
  if (graceSeconds === 0) return { hashes: [next], rotation: null };
  const [current, previous] = key.hashes;
  const currentWasNeverUsed = key.rotation !== null && key.rotation.previousEndsAt === null;
  const keptSecret = currentWasNeverUsed ? previous : current;
  return { hashes: keptSecret === undefined ? [next] : [next, keptSecret], rotation: { graceSeconds, previousEndsAt: null } };
};

export const createKeys = (options: KeysOptions): Keys => {
  const { store, users, accounts, changes, secretBox, addressProblem, pepper, environment, clock = Date.now } = options;
  const newValue = (): { value: string; hash: string; start: string } => {
    const value = generateKeyValue(environment);
    return { value, hash: hashKeyValue(pepper, value), start: value.slice(0, START_CHARS) };
  };
  const announce = (id: string): Promise<void> => changes.announce({ type: "key", id });

  const create: Keys["create"] = async (userId, newKey) => {
    const { madeBy = userId } = newKey;
    const now = clock();
    const ofWebhook = newKey.webhook ? await webhookIssues(newKey.webhook, addressProblem, "webhook.") : [];
    requireValid([...keyIssues(newKey, now), ...ofWebhook]);
    const owner = await accounts.get(userId);
    requireKeyRights(owner);
    const service = madeBy === userId ? null : await accounts.ofService(owner, madeBy);
    if (newKey.service && !service) throw new DomainError("not_found", "NOT_FOUND", "service account not found");
    const person = madeBy === userId ? owner : (service?.person ?? (await users.get(madeBy)));
    requireStanding(person);
    const grants = grantsFor(newKey, service ? { ...owner, role: "user" } : owner);
    requireMakersGrants(grants.capabilities, service?.within);
    if (newKey.webhook) requireWebhookGrant(grants.capabilities);
    const id = randomUUID();
    const { value, hash, start } = newValue();
    const secret = newKey.webhook && newWebhookSecret(secretBox, id, new Date(now));
    const record = {
      _id: id,
      userId,
      ...(madeBy === userId ? {} : { madeBy }),
      epoch: person.keyEpoch,
      name: newKey.name.trim(),
      start,
      ...grants,
      ...(newKey.alias ? { alias: newKey.alias } : {}),
      hashes: [hash],
      rotation: null,
      webhook: newKey.webhook ? newWebhook(newKey.webhook) : null,
      webhookSecrets: secret ? [secret.record] : [],
      createdAt: new Date(now),
      lastUsedAt: null,
      expiresAt: newKey.expiresAt ?? null,
    };
    const key = await insertIntoFreeSlot(store, record, owner.plan.caps.keys);
    return { key, value, webhookSecret: secret?.secret ?? "", warnings: grantWarnings(key.capabilities) };
  };

  const changedGrants = async (key: KeyRecord, capabilities: string[]): Promise<ReturnType<typeof grantsFor>> => {
    const owner = await accounts.get(key.userId);
    const service = key.madeBy === undefined ? null : await accounts.ofService(owner, key.madeBy);
    requireMakersGrants(capabilities, service?.within);
    return grantsFor({ preset: "", capabilities }, service ? { ...owner, role: "user" } : owner);
  };

  const edit: Keys["edit"] = async (of, keyId, { name, capabilities, metadata, alias }) => {
    requireValid([
      ...(name === undefined ? [] : nameIssues(name.trim())),
      ...(capabilities === undefined ? [] : grantIssues({ preset: "", capabilities })),
      ...(metadata === undefined ? [] : metadataIssues(metadata)),
      ...(alias === undefined ? [] : aliasIssues(alias)),
      ...([name, capabilities, metadata, alias].every((one) => one === undefined)
        ? [{ path: "", message: "send at least one of name, capabilities, metadata, alias" }]
        : []),
    ]);
    const ownedKey = await store.findOwned(of, keyId);
    if (!ownedKey) throw noSuchKey();
    const change: KeyChange = {
      ...(name === undefined ? {} : { name: name.trim() }),
      ...(capabilities === undefined ? {} : await changedGrants(ownedKey, capabilities)),
      ...(alias === undefined ? {} : { alias }),
      ...(metadata === undefined ? {} : { metadata: Object.entries(metadata).map(([entry, value]) => ({ name: entry, value })) }),
    };
    const key = await store.change(of, keyId, change);
    if (!key) throw noSuchKey();
    await announce(keyId);
    return { key, warnings: grantWarnings(key.capabilities) };
  };

  const rotate: Keys["rotate"] = async (of, keyId, graceSeconds) => {
    if (!Number.isInteger(graceSeconds) || graceSeconds < 0 || graceSeconds > MAX_GRACE_SECONDS) {
      throw invalidRequest([{ path: "graceSeconds", message: `must be a whole number between 0 and ${MAX_GRACE_SECONDS}` }]);
    }
    const key = await store.findOwned(of, keyId);
    if (!key) throw noSuchKey();
    if (key.expiresAt && key.expiresAt.getTime() <= clock()) throw precondition("the key has expired; create another one");
    const { value, hash, start } = newValue();
    const secret = key.webhook ? newWebhookSecret(secretBox, keyId, new Date(clock())) : undefined;
    const to = { start, ...rotatedValues(key, hash, graceSeconds) };
    const rotated = await store.rotate(key, to, secret?.record);
    if (!rotated) throw precondition("the key was changed at the same time; try again");
    await announce(keyId);
    return { key: rotated, value, webhookSecret: secret?.secret ?? "", warnings: grantWarnings(rotated.capabilities) };
  };

  return {
    create,
    rotate,
    edit,
    list: async (userId, ids) => {
      const keys = await store.list(userId, ids);
      const person = await users.find(userId);
      if (person) return keys.filter(({ epoch }) => epoch === person.keyEpoch);
      const holders = await Promise.all(keys.map((key) => accounts.holderOf(key)));
      return keys.filter((_, index) => holders[index] !== null);
    },
    listDeleted: async (userId, ids) => {
      const [deletedKeys, keys] = await Promise.all([store.listDeleted(userId, ids), store.list(userId, ids)]);
      const existing = new Set(keys.map(({ _id }) => _id));
      // A key is named here before it is deleted.
      return deletedKeys.filter(({ _id }) => !existing.has(_id));
    },
    revoke: async (of, keyId) => {
      if (!(await store.remove(of, keyId))) throw noSuchKey();
      await announce(keyId);
    },
  };
};
