import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { SecretRecord } from "../records";

export interface SecretStore {
  find(owner: string, names: readonly string[]): Promise<SecretRecord[]>;
  /** All of an owner, by name. */
  list(owner: string): Promise<SecretRecord[]>;
  count(owner: string): Promise<number>;
  put(secret: SecretRecord): Promise<void>;
  /** @returns what was removed */
  remove(owner: string, name: string): Promise<SecretRecord | null>;
  /** Some that are sealed under another key, in order of their ids, from behind one on. */
  sealedOtherwise(keyId: string, after: string, limit: number): Promise<SecretRecord[]>;
  /** Replaces how a value is sealed, unless it was set anew meanwhile. */
  reseal(id: string, revision: string, sealed: Pick<SecretRecord, "keyId" | "sealed">): Promise<void>;
}

export const createSecretStore = (secrets: Model<SecretRecord>): SecretStore => {
  const put = async ({ _id, ...rest }: SecretRecord): Promise<void> =>
    void (await secrets.updateOne({ _id }, { $set: rest }, { upsert: true }));
  return {
    find: (owner, names) =>
      secrets
        .find({ owner, name: { $in: [...names] } })
        .lean<SecretRecord[]>()
        .exec(),
    list: (owner) => secrets.find({ owner }).sort({ name: 1 }).lean<SecretRecord[]>().exec(),
    count: (owner) => secrets.countDocuments({ owner }).exec(),
    put: (secret) =>
      put(secret).catch((error: unknown) => {
        // Two upserts of a new secret may both try to insert; the later one then finds it.
        if (isDuplicateKey(error)) return put(secret);
        throw error;
      }),
    remove: (owner, name) => secrets.findOneAndDelete({ owner, name }).lean<SecretRecord>().exec(),
    sealedOtherwise: (keyId, after, limit) =>
      secrets
        .find({ keyId: { $ne: keyId }, _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<SecretRecord[]>()
        .exec(),
    reseal: async (_id, revision, sealed) => void (await secrets.updateOne({ _id, revision }, { $set: sealed })),
  };
};
