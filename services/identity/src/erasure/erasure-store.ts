import type { Model } from "mongoose";
import type { ErasureRecord, StopRecord, UserRecord } from "../records";
import { NO_PASSWORD } from "../users/passwords";

/** A personal account or an organization with an erasure mark. */
export interface Erasable {
  _id: string;
  erasure?: ErasureRecord | null;
}

export interface ErasureMarks {
  /** Accounts and organizations whose erasure is due or complete, the longest due first. */
  due(now: Date, limit: number): Promise<Erasable[]>;
  /** @returns false if the erasure hasn't started or has already ended */
  end(id: string, at: Date): Promise<boolean>;
  /** Removes the mark of an erased account. */
  forget(id: string): Promise<void>;
}

export interface ErasureStore extends ErasureMarks {
  /**
   * Schedules an erasure and the stop of the account's runs. Returns null if an erasure is already scheduled or the account is an
   * administrator's.
   */
  request(userId: string, erasure: ErasureRecord, stop: StopRecord): Promise<UserRecord | null>;
  /** Cancels an erasure. Returns null if none is scheduled or it has started. */
  withdraw(userId: string): Promise<UserRecord | null>;
  /**
   * Reduces an account to its erasure mark. Sign-in becomes impossible and the address becomes available.
   * @param knownAs key of the account's known addresses
   * @returns false if the account has changed since it was read
   */
  begin(user: UserRecord, now: Date, knownAs: string): Promise<boolean>;
}

const NOT_BEGUN = { "erasure.requestedAt": { $ne: null }, "erasure.begunAt": null } as const;
const NEXT_REVISION = { revision: 1 } as const;

export const newErasure = (requestedAt: Date, erasesAt: Date): ErasureRecord => ({
  ...{ requestedAt, erasesAt },
  ...{ begunAt: null, endedAt: null, knownAs: "" },
});

/** @param only filter for documents that can be erased */
export const createErasureMarks = <T extends Erasable>(documents: Model<T>, only: object = {}): ErasureMarks => ({
  due: (now, limit) =>
    documents
      .find({ "erasure.erasesAt": { $lte: now }, ...only } as never, { erasure: 1 })
      .sort({ "erasure.erasesAt": 1 })
      .limit(limit)
      .lean<Erasable[]>()
      .exec(),
  end: async (_id, endedAt) => {
    const isBegun = { _id, "erasure.begunAt": { $ne: null } } as never;
    return (await documents.updateOne(isBegun, { $set: { "erasure.endedAt": endedAt } } as never)).matchedCount > 0;
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
