import type { Model } from "mongoose";
import type { ErasureRecord, StopRecord, UserRecord } from "../records";
import { NO_PASSWORD } from "../users/passwords";

export interface ErasureStore {
  /** Notes when an account is to be erased, and which stop ends its runs. Null where that is noted already, or it is an administrator's. */
  request(userId: string, erasure: Pick<ErasureRecord, "requestedAt" | "erasesAt">, stop: StopRecord): Promise<UserRecord | null>;
  /** Takes that back. Null where there is nothing to take back, or where it has begun. */
  withdraw(userId: string): Promise<UserRecord | null>;
  /** Accounts whose time has come, and those that are erased, longest first. */
  due(now: Date, limit: number): Promise<Pick<UserRecord, "_id" | "erasure">[]>;
  /**
   * Leaves of an account the mark that it is being erased: nobody can sign in to it, and its address is free.
   * @param knownAs what its known addresses are named by
   * @returns false where the account has changed since it was read
   */
  begin(user: UserRecord, now: Date, knownAs: string): Promise<boolean>;
  end(userId: string, at: Date): Promise<boolean>;
  /** Removes what is left of an account that is erased. */
  forget(userId: string): Promise<void>;
}

const NOT_BEGUN = { "erasure.requestedAt": { $ne: null }, "erasure.begunAt": null } as const;
const NEXT_REVISION = { revision: 1 } as const;

export const createErasureStore = (users: Model<UserRecord>): ErasureStore => {
  const changed = (filter: object, change: object): Promise<UserRecord | null> =>
    users
      .findOneAndUpdate(filter as never, change as never, { returnDocument: "after" })
      .lean<UserRecord>()
      .exec();

  return {
    request: (_id, times, stop) => {
      const erasure: ErasureRecord = { ...times, begunAt: null, endedAt: null, knownAs: "" };
      return changed({ _id, role: "user", erasure: null }, { $set: { erasure, stop }, $inc: NEXT_REVISION });
    },
    withdraw: (_id) => changed({ _id, ...NOT_BEGUN }, { $set: { erasure: null }, $inc: NEXT_REVISION }),
    due: (now, limit) =>
      users
        .find({ "erasure.erasesAt": { $lte: now }, role: "user" }, { erasure: 1 })
        .sort({ "erasure.erasesAt": 1 })
        .limit(limit)
        .lean<Pick<UserRecord, "_id" | "erasure">[]>()
        .exec(),
    begin: async ({ _id, email }, begunAt, knownAs) => {
      const mark = {
        ...{ email: `erased:${_id}`, passwordHash: NO_PASSWORD, approved: false, business: null, secondFactor: null, passwordReset: null },
        ...{ bootstrapHash: null, emailVerifiedAt: null, "erasure.begunAt": begunAt, "erasure.knownAs": knownAs },
      };
      const due = { _id, email, role: "user", ...NOT_BEGUN, "erasure.erasesAt": { $lte: begunAt } };
      return (await changed(due, { $set: mark, $inc: { ...NEXT_REVISION, sessionEpoch: 1, keyEpoch: 1 } })) !== null;
    },
    end: async (_id, endedAt) =>
      (await users.updateOne({ _id, "erasure.begunAt": { $ne: null } } as never, { $set: { "erasure.endedAt": endedAt } })).matchedCount >
      0,
    forget: async (_id) => void (await users.deleteOne({ _id, "erasure.endedAt": { $ne: null } } as never)),
  };
};
