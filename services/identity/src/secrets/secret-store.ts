import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { SecretRecord } from "../records";

export interface SecretStore {
  find(owner: string, names: readonly string[]): Promise<SecretRecord[]>;
  /** All secrets of an owner, by name. */
  list(owner: string): Promise<SecretRecord[]>;
  count(owner: string): Promise<number>;
  put(secret: SecretRecord): Promise<SecretRecord>;
  /** Removes a value, unless it was replaced. */
  unset(id: string, revision: string): Promise<void>;
  /** @returns the removed secret */
  remove(owner: string, name: string): Promise<SecretRecord | null>;
  /** Values encrypted with another key, ordered by id, after the id `after`. */
  sealedOtherwise(keyId: string, after: string, limit: number): Promise<SecretRecord[]>;
  /** Replaces the encryption of a value, unless the value itself was replaced. */
  reseal(id: string, revision: string, sealed: Pick<SecretRecord, "keyId" | "sealed">): Promise<void>;
}

export const createSecretStore = (secrets: Model<SecretRecord>): SecretStore => {
  const put = async ({ _id, setAt, workflows, ...rest }: SecretRecord): Promise<SecretRecord> =>
    (await secrets
      .findOneAndUpdate(
        { _id },
        {
          $set: { ...rest, setAt, ...(workflows ? { workflows } : {}) },
          ...(workflows ? {} : { $unset: { workflows: 1 } }),
          $setOnInsert: { createdAt: setAt },
        },
        { upsert: true, returnDocument: "after" },
      )
      .lean<SecretRecord>()
      .exec())!;
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
        // If two upserts create the same secret, the later one finds it on retry.
        if (isDuplicateKey(error)) return put(secret);
        throw error;
      }),
    unset: async (_id, revision) => void (await secrets.deleteOne({ _id, revision })),
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
