import type { Model } from "mongoose";
import type { SecondFactorRecord, UserRecord } from "../records";

/** Stores second factors as members of users, so that each change is a single conditional update. */
export interface SecondFactorStore {
  /** Stores an unconfirmed secret. @returns false if a secret is already confirmed */
  begin(userId: string, factor: SecondFactorRecord): Promise<boolean>;
  /** Confirms a secret and ends all sessions. @returns null if the secret was replaced or is already confirmed */
  confirm(
    userId: string,
    id: string,
    confirmed: Pick<SecondFactorRecord, "lastStep" | "recoveryCodes"> & { at: Date },
  ): Promise<UserRecord | null>;
  /** Marks a time step as used. @returns false if this step or a later one is already used */
  useStep(userId: string, id: string, step: number): Promise<boolean>;
  /** Removes a recovery code. @returns false if it was already used */
  useRecoveryCode(userId: string, id: string, hash: string): Promise<boolean>;
  /** Removes the secret. @param id removes only the secret with this id @returns false if there is none */
  remove(userId: string, id?: string): Promise<boolean>;
  /** Users whose secret is encrypted with another key, ordered by id, after the id `after`. */
  sealedOtherwise(keyId: string, after: string, limit: number): Promise<UserRecord[]>;
  /** Replaces the encryption of a secret, unless the secret itself was replaced. */
  reseal(userId: string, id: string, sealed: Pick<SecondFactorRecord, "keyId" | "sealed">): Promise<void>;
}

export const createSecondFactorStore = (users: Model<UserRecord>): SecondFactorStore => {
  const change = async (filter: object, update: object): Promise<boolean> => (await users.updateOne(filter, update)).modifiedCount > 0;
  return {
    begin: (_id, secondFactor) => change({ _id, "secondFactor.confirmedAt": null }, { $set: { secondFactor } }),
    confirm: (_id, id, { at, lastStep, recoveryCodes }) =>
      users
        .findOneAndUpdate(
          { _id, "secondFactor.id": id, "secondFactor.confirmedAt": null },
          {
            $set: { "secondFactor.confirmedAt": at, "secondFactor.lastStep": lastStep, "secondFactor.recoveryCodes": recoveryCodes },
            $inc: { sessionEpoch: 1 },
          },
          { returnDocument: "after" },
        )
        .lean<UserRecord>()
        .exec(),
    useStep: (_id, id, step) =>
      change({ _id, "secondFactor.id": id, "secondFactor.lastStep": { $lt: step } }, { $set: { "secondFactor.lastStep": step } }),
    useRecoveryCode: (_id, id, hash) =>
      change({ _id, "secondFactor.id": id, "secondFactor.recoveryCodes": hash }, { $pull: { "secondFactor.recoveryCodes": hash } }),
    remove: (_id, id) =>
      change(
        { _id, ...(id === undefined ? { "secondFactor.id": { $ne: null } } : { "secondFactor.id": id }) },
        { $set: { secondFactor: null } },
      ),
    sealedOtherwise: (keyId, after, limit) =>
      users
        .find({ "secondFactor.id": { $ne: null }, "secondFactor.keyId": { $ne: keyId }, _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<UserRecord[]>()
        .exec(),
    reseal: async (_id, id, { keyId, sealed }) =>
      void (await change({ _id, "secondFactor.id": id }, { $set: { "secondFactor.keyId": keyId, "secondFactor.sealed": sealed } })),
  };
};
