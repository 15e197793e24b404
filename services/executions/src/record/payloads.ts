/** Stores long texts and large Temporal payloads under their hashes. */
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { LIMITS, RETENTION } from "@nodeloom/kernel";
import { DURABLE, removeSome } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import type { StoredText } from "../run/types";
import { documents } from "./schema";

const DAY_MS = 86_400_000;
/** A text is written when its run starts and must outlive the run's row. The run may be queued, run for two days and wait for decisions. */
const TEXT_MARGIN_DAYS = 3 + LIMITS.waitingHours / 24;
/** Shorter texts stay in the row. */
const INLINE_CHARS = 2_048;

interface PayloadRecord {
  _id: string;
  bytes: Buffer;
  expiresAt: Date;
  /** User or run that owns the text; absent in documents written before owners were stored. */
  owner?: string;
}
const payloadSchema = documents<PayloadRecord>("payloads");
payloadSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
// Used by erasures.
payloadSchema.index({ owner: 1 }, { sparse: true });

/** Owners don't share texts, so that one account can be erased. */
const hashOf = (json: string, owner: string): string => `text-${createHash("sha256").update(`${owner}\n${json}`).digest("hex")}`;

export type PayloadStore = Awaited<ReturnType<typeof createPayloadStore>>;

/**
 * Stores large texts and Temporal payloads under their content hash. A shared text is kept as long as the last row that uses it.
 * @param executionDays retention of executions, which also applies to their texts
 */
export const createPayloadStore = (connection: Connection, executionDays: number) => {
  const payloads = connection.model("Payload", payloadSchema);

  const write = async (hash: string, bytes: Uint8Array, days: number, owner: string | undefined): Promise<void> => {
    const expiresAt = new Date(Date.now() + days * DAY_MS);
    await payloads
      .updateOne(
        { _id: hash },
        { $setOnInsert: { bytes: Buffer.from(bytes), ...(owner === undefined ? {} : { owner }) }, $max: { expiresAt } },
        { upsert: true, writeConcern: DURABLE },
      )
      .exec();
  };
  const get = async (hash: string): Promise<Uint8Array | null> => {
    const document = await payloads.findOne({ _id: hash }).lean<{ bytes: { buffer: Uint8Array } | Buffer }>().exec();
    if (!document) return null;
    return new Uint8Array(Buffer.isBuffer(document.bytes) ? document.bytes : document.bytes.buffer);
  };

  return {
    /** @param owner workflow that the payload belongs to, if known */
    put: (hash: string, bytes: Uint8Array, owner?: string): Promise<void> => write(hash, bytes, RETENTION.claimChecks.days, owner),
    get,

    removeExpired: (now: Date, limit: number): Promise<number> => removeSome(payloads, { expiresAt: { $lt: now } }, limit),

    /** @param except hash of a text to keep */
    removeOwned: (owners: readonly string[], limit: number, except?: string): Promise<number> =>
      removeSome(payloads, { owner: { $in: [...owners] }, ...(except === undefined ? {} : { _id: { $ne: except } }) }, limit),

    /**
     * Removes a text of a user that no row uses any more. @returns false if the text was written after `writtenBefore`, because a new row
     * may be about to use it
     */
    removeShared: async (hash: string, userId: string, writtenBefore: Date): Promise<boolean> => {
      const writtenAt = new Date(writtenBefore.getTime() + (executionDays + TEXT_MARGIN_DAYS) * DAY_MS);
      await payloads.deleteOne({ _id: hash, owner: userId, expiresAt: { $lt: writtenAt } }, { writeConcern: DURABLE }).exec();
      return (await payloads.countDocuments({ _id: hash, owner: userId }, { limit: 1 }).exec()) === 0;
    },

    /** Stores a JSON text for a row. A short text stays in the row. @param owner user or run that owns the text */
    putText: async (json: string, owner: string): Promise<StoredText> => {
      if (json.length <= INLINE_CHARS) return { json };
      const bytes = gzipSync(json, { level: 1 });
      const hash = hashOf(json, owner);
      await write(hash, bytes, executionDays + TEXT_MARGIN_DAYS, owner);
      return { hash };
    },
    /** Stores a text that many rows of a user share. It is never stored in a row. */
    putShared: async (json: string, userId: string): Promise<StoredText> => {
      const hash = hashOf(json, userId);
      await write(hash, gzipSync(json, { level: 1 }), executionDays + TEXT_MARGIN_DAYS, userId);
      return { hash };
    },
    /** @returns null if the text is missing */
    getText: async (stored: StoredText): Promise<string | null> => {
      if ("json" in stored) return stored.json;
      const bytes = await get(stored.hash);
      return bytes && gunzipSync(bytes).toString("utf8");
    },
  };
};
