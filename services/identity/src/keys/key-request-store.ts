import { groupBy, LIMITS, RETENTION } from "@nodeloom/kernel";
import { beyond, type ListPosition } from "@nodeloom/platform";
import { Schema, type Connection, type Model } from "mongoose";
import { date, number, OPTIONS, text } from "../schema-fields";
import type { KeyRecord, KeyRequestRecord } from "./records";

/**
 * The latest requests of each key. A key has a fixed number of places, which its requests fill in a circle, so that nothing must be trimmed
 * and a busy key takes no more space than a quiet one.
 */

const DAY_SECONDS = 86_400;

const keyRequestSchema = new Schema<KeyRequestRecord>(
  {
    ...{ _id: text, userId: text, keyId: text, at: date, method: text, route: text, status: number, durationMs: number },
    errorCode: { type: String },
    requestId: text,
    executionId: { type: String },
    ip: { type: String },
  },
  OPTIONS,
)
  // Order of a key's list.
  .index({ keyId: 1, at: -1, _id: -1 })
  .index({ at: 1 }, { expireAfterSeconds: RETENTION.keyRequests.days * DAY_SECONDS });

export const createKeyRequestModel = (connection: Connection): Model<KeyRequestRecord> =>
  connection.model<KeyRequestRecord>("KeyRequest", keyRequestSchema, "key-requests");

/** A request as the gateway reports it. */
export type ReportedRequest = Omit<KeyRequestRecord, "_id" | "userId">;

export interface KeyRequestQuery {
  keyId: string;
  /** Lowest and highest status. */
  statuses: readonly [number, number];
  after: ListPosition | undefined;
  limit: number;
}

export interface KeyRequestStore {
  /** Stores requests, oldest first. Those of keys that no longer exist are dropped. */
  record(requests: readonly ReportedRequest[]): Promise<void>;
  /** Requests, newest first. */
  page(query: KeyRequestQuery): Promise<KeyRequestRecord[]>;
}

export const createKeyRequestStore = (requests: Model<KeyRequestRecord>, keys: Model<KeyRecord>): KeyRequestStore => {
  /** Takes places for the newest requests of a key. */
  const placed = async (keyId: string, reported: readonly ReportedRequest[]): Promise<KeyRequestRecord[]> => {
    const newest = reported.slice(-LIMITS.keyRequests);
    const key = await keys
      .findOneAndUpdate(
        { _id: keyId },
        { $inc: { requests: newest.length } },
        { returnDocument: "after", projection: { userId: 1, requests: 1 } },
      )
      .lean<Pick<KeyRecord, "userId" | "requests">>()
      .exec();
    if (!key) return [];
    const first = (key.requests ?? 0) - newest.length;
    return newest.map((request, index) => ({
      ...request,
      _id: `${keyId}.${(first + index) % LIMITS.keyRequests}`,
      userId: key.userId,
    }));
  };

  return {
    record: async (reported) => {
      const byKey = groupBy(reported, ({ keyId }) => keyId);
      const replacements = (await Promise.all([...byKey].map(([keyId, ofKey]) => placed(keyId, ofKey)))).flat();
      if (replacements.length === 0) return;
      // Without mongoose's casts, which cost more than the rest of the write.
      await requests.collection.bulkWrite(
        replacements.map((replacement) => ({ replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true } })) as never,
        { ordered: false },
      );
    },
    page: ({ keyId, statuses: [least, most], after, limit }) =>
      requests
        .find({ $and: [{ keyId, status: { $gte: least, $lte: most } }, beyond("at", after, "$lt")] })
        .sort({ at: -1, _id: -1 })
        .limit(limit)
        .lean<KeyRequestRecord[]>()
        .exec(),
  };
};
