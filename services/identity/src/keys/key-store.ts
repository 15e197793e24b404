import { insertOnce } from "@nodeloom/platform";
import type { Model } from "mongoose";
import { ofOwner, type DeletedKeyStore } from "./deleted-key-store";
import type { DeletedKeyRecord, KeyRecord, RotationRecord, WebhookRecord, WebhookSecretRecord } from "./records";

/** Maximum number of stored signing secrets. Replaced secrets still sign for a day; if there are too many, the oldest is dropped. */
export const SECRETS_KEPT = 10;

/** Identifies a key's webhook and its settings. */
export interface WebhookSettings {
  keyId: string;
  url: string;
  revision: string;
}

export type KeyChange = Partial<Pick<KeyRecord, "name" | "preset" | "capabilities" | "metadata" | "alias">>;
export type RotatedKey = Pick<KeyRecord, "start" | "hashes" | "rotation">;

/** Selects keys of an owner. */
export interface Ownership {
  userId: string;
  /** Limits the selection to keys that this person created. */
  madeBy?: string | undefined;
}

/** Methods that handle users' requests require the owner's id. The other methods serve authentication and delivery. */
export interface KeyStore {
  /** @returns false if another request took the slot */
  insert(key: KeyRecord): Promise<boolean>;
  /** Slots that an owner's keys use. */
  slots(userId: string): Promise<number[]>;
  findOwned(of: Ownership, id: string): Promise<KeyRecord | null>;
  /** Keys, newest first. */
  /** @param ids only these keys */
  list(userId: string, ids?: readonly string[]): Promise<KeyRecord[]>;
  /** Deleted keys, newest first. */
  listDeleted(userId: string, ids?: readonly string[]): Promise<DeletedKeyRecord[]>;
  change(of: Ownership, id: string, change: KeyChange): Promise<KeyRecord | null>;
  /** Removes a key. Its name stays among the deleted keys, as for the methods below. */
  remove(of: Ownership, id: string): Promise<boolean>;
  /** Removes a person's keys from earlier epochs. */
  removeEnded(personId: string, epoch: number): Promise<void>;
  /** Removes keys of an owner that a person created. */
  removeMadeBy(userId: string, personId: string): Promise<void>;
  /** Replaces the key's values and optionally adds a webhook secret. @returns null if the values have changed since `key` was read */
  rotate(key: KeyRecord, to: RotatedKey, secret: WebhookSecretRecord | undefined): Promise<KeyRecord | null>;
  setWebhook(of: Ownership, id: string, webhook: WebhookRecord, secret: WebhookSecretRecord): Promise<KeyRecord | null>;
  removeWebhook(of: Ownership, id: string): Promise<KeyRecord | null>;

  findByHash(hash: string): Promise<KeyRecord | null>;
  find(id: string): Promise<KeyRecord | null>;
  /** Sets the end of the previous value, at most once. */
  startGrace(key: KeyRecord, previousEndsAt: Date): Promise<void>;
  /** Records a use, unless a use after `notSince` is recorded. */
  touch(id: string, at: Date, notSince: Date): Promise<void>;
  /** Disables the webhook if it is enabled with these settings. If `failingSince` is set, it must also equal the stored time. */
  disableWebhook(settings: WebhookSettings, at: Date, reason: string, failingSince?: Date): Promise<boolean>;
  /** Records the first failure of a series. */
  noteFailure(settings: WebhookSettings, at: Date): Promise<void>;
  /** Ends a series of failures that began before the time. */
  noteSuccess(settings: WebhookSettings, at: Date): Promise<void>;
}

/** Adds a secret and keeps only the newest. */
export const newestFirst = (secret: WebhookSecretRecord): object => ({ $each: [secret], $position: 0, $slice: SECRETS_KEPT });

const enabled = ({ keyId, url, revision }: WebhookSettings): object => ({
  _id: keyId,
  "webhook.url": url,
  "webhook.revision": revision,
  "webhook.disabledAt": null,
});

const owned = ({ userId, madeBy }: Ownership, id: string): object => ({ _id: id, userId, ...(madeBy === undefined ? {} : { madeBy }) });

export const createKeyStore = (keys: Model<KeyRecord>, deletedKeys: DeletedKeyStore, clock: () => number = Date.now): KeyStore => {
  const update = (filter: object, change: object): Promise<KeyRecord | null> =>
    keys.findOneAndUpdate(filter, change, { returnDocument: "after" }).lean<KeyRecord>().exec();
  /** Keeps the names first, so that a crash loses none. @returns the number of removed keys */
  const removeAll = async (filter: object): Promise<number> => {
    const removedKeys = await keys.find(filter).lean<KeyRecord[]>().exec();
    await deletedKeys.keep(removedKeys, new Date(clock()));
    return (await keys.deleteMany(filter)).deletedCount;
  };
  const sameValues = ({ hashes, rotation }: { hashes: string[]; rotation: RotationRecord | null }): object =>
    rotation ? { hashes, "rotation.previousEndsAt": rotation.previousEndsAt } : { hashes };
  return {
    insert: async (key) => {
      return insertOnce(keys.create([key]));
    },
    slots: async (userId) => (await keys.find({ userId }, { slot: 1 }).lean<Pick<KeyRecord, "slot">[]>()).map(({ slot }) => slot),
    findOwned: (of, id) => keys.findOne(owned(of, id)).lean<KeyRecord>().exec(),
    list: (userId, ids) => keys.find(ofOwner(userId, ids)).sort({ createdAt: -1, _id: -1 }).lean<KeyRecord[]>().exec(),
    change: (of, id, change) => update(owned(of, id), { $set: change }),
    listDeleted: (userId, ids) => deletedKeys.list(userId, ids),
    remove: async (of, id) => (await removeAll(owned(of, id))) > 0,
    removeEnded: async (personId, epoch) => {
      const isOlder = { epoch: { $lt: epoch } };
      // A key without a creator was created by its owner.
      await removeAll({ userId: personId, ...isOlder });
      await removeAll({ madeBy: personId, ...isOlder });
    },
    removeMadeBy: async (userId, personId) => void (await removeAll({ userId, madeBy: personId })),
    rotate: (key, to, secret) =>
      update(
        { _id: key._id, userId: key.userId, ...sameValues(key), ...(secret ? { webhook: { $ne: null } } : {}) },
        { $set: to, ...(secret ? { $push: { webhookSecrets: newestFirst(secret) } } : {}) },
      ),
    setWebhook: (of, id, webhook, secret) => update(owned(of, id), { $set: { webhook }, $push: { webhookSecrets: newestFirst(secret) } }),
    removeWebhook: (of, id) => update(owned(of, id), { $set: { webhook: null, webhookSecrets: [] } }),

    findByHash: (hash) => keys.findOne({ hashes: hash }).lean<KeyRecord>().exec(),
    find: (id) => keys.findById(id).lean<KeyRecord>().exec(),
    startGrace: async (key, previousEndsAt) =>
      void (await keys.updateOne({ _id: key._id, ...sameValues(key) }, { $set: { "rotation.previousEndsAt": previousEndsAt } })),
    touch: async (id, at, notSince) =>
      void (await keys.updateOne(
        { _id: id, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lt: notSince } }] },
        { $set: { lastUsedAt: at } },
      )),
    disableWebhook: async (settings, at, reason, failingSince) => {
      const filter = { ...enabled(settings), ...(failingSince ? { "webhook.failingSince": failingSince } : {}) };
      const result = await keys.updateOne(filter, { $set: { "webhook.disabledAt": at, "webhook.disabledReason": reason } });
      return result.modifiedCount > 0;
    },
    noteFailure: async (settings, at) =>
      void (await keys.updateOne({ ...enabled(settings), "webhook.failingSince": null }, { $set: { "webhook.failingSince": at } })),
    noteSuccess: async (settings, at) =>
      void (await keys.updateOne(
        { ...enabled(settings), "webhook.failingSince": { $lte: at } },
        { $set: { "webhook.failingSince": null } },
      )),
  };
};
