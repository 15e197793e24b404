import type { Model } from "mongoose";
import type { ErasureRecord, StopRecord, UserRecord } from "../records";
import { NO_PASSWORD } from "../users/passwords";

/** What has the mark that it is to be erased: a person's account, or an organization. */
export interface Erasable {
  _id: string;
  erasure?: ErasureRecord | null;
}

/** How far erasures have come. */
export interface ErasureMarks {
  /** Those whose time has come, and those that are erased, longest first. */
  due(now: Date, limit: number): Promise<Erasable[]>;
  /** @returns false where the erasure has not begun, or all is over */
  end(id: string, at: Date): Promise<boolean>;
  /** Removes what is left of one that is erased. */
  forget(id: string): Promise<void>;
}

export interface ErasureStore extends ErasureMarks {
  /** Notes when an account is to be erased, and which stop ends its runs. Null where that is noted already, or it is an administrator's. */
  request(userId: string, erasure: ErasureRecord, stop: StopRecord): Promise<UserRecord | null>;
  /** Takes that back. Null where there is nothing to take back, or where it has begun. */
  withdraw(userId: string): Promise<UserRecord | null>;
  /**
   * Leaves of an account the mark that it is being erased: nobody can sign in to it, and its address is free.
   * @param knownAs what its known addresses are named by
   * @returns false where the account has changed since it was read
   */
  begin(user: UserRecord, now: Date, knownAs: string): Promise<boolean>;
}

const NOT_BEGUN = { "erasure.requestedAt": { $ne: null }, "erasure.begunAt": null } as const;
const NEXT_REVISION = { revision: 1 } as const;

/** The mark of an erasure that is asked for now. */
export const newErasure = (requestedAt: Date, erasesAt: Date): ErasureRecord => ({
  ...{ requestedAt, erasesAt },
  ...{ begunAt: null, endedAt: null, knownAs: "" },
});

/** @param only those of the collection that may be erased */
export const createErasureMarks = <T extends Erasable>(documents: Model<T>, only: object = {}): ErasureMarks => ({
  due: (now, limit) =>
    documents
      .find({ "erasure.erasesAt": { $lte: now }, ...only } as never, { erasure: 1 })
      .sort({ "erasure.erasesAt": 1 })
      .limit(limit)
      .lean<Erasable[]>()
      .exec(),
  end: async (_id, endedAt) => {
    const begun = { _id, "erasure.begunAt": { $ne: null } } as never;
    return (await documents.updateOne(begun, { $set: { "erasure.endedAt": endedAt } } as never)).matchedCount > 0;
  },
  forget: async (_id) => void (await documents.deleteOne({ _id, "erasure.endedAt": { $ne: null } } as never)),
});

export const createErasureStore = (users: Model<UserRecord>): ErasureStore => {
  const changed = (filter: object, change: object): Promise<UserRecord | null> =>
    users
      .findOneAndUpdate(filter as never, change as never, { returnDocument: "after" })
      .lean<UserRecord>()
      .exec();

  return {
    ...createErasureMarks(users, { role: "user" }),
    request: (_id, erasure, stop) => changed({ _id, role: "user", erasure: null }, { $set: { erasure, stop }, $inc: NEXT_REVISION }),
    withdraw: (_id) => changed({ _id, ...NOT_BEGUN }, { $set: { erasure: null }, $inc: NEXT_REVISION }),
    begin: async ({ _id, email }, begunAt, knownAs) => {
      const mark = {
        ...{ email: `erased:${_id}`, passwordHash: NO_PASSWORD, approved: false, business: null, secondFactor: null, passwordReset: null },
        ...{ bootstrapHash: null, emailVerifiedAt: null, "erasure.begunAt": begunAt, "erasure.knownAs": knownAs },
      };
      const due = { _id, email, role: "user", ...NOT_BEGUN, "erasure.erasesAt": { $lte: begunAt } };
      return (await changed(due, { $set: mark, $inc: { ...NEXT_REVISION, sessionEpoch: 1, keyEpoch: 1 } })) !== null;
    },
  };
};
