/** Long texts and Temporal's large payloads, by their hashes. */
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { LIMITS, RETENTION } from "@nodeloom/kernel";
import { DURABLE, removeSome } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import type { StoredText } from "../run/types";
import { documents } from "./schema";

const DAY_MS = 86_400_000;
/**
 * A text is written when its run begins, and a run may wait in the queue and take two days, and wait for decisions besides: it must not go
 * before its row.
 */
const TEXT_MARGIN_DAYS = 3 + LIMITS.waitingHours / 24;
/** Texts up to this length are kept where they belong. */
const INLINE_CHARS = 2_048;

interface PayloadRecord {
  _id: string;
  bytes: Buffer;
  expiresAt: Date;
  /** The user or the run that it belongs to; absent on those from before there was any. */
  owner?: string;
}
const payloadSchema = documents<PayloadRecord>("payloads");
payloadSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
// What goes with an account.
payloadSchema.index({ owner: 1 }, { sparse: true });

/** The same text of two owners is kept twice: one of them may leave. */
const hashOf = (json: string, owner: string): string => `text-${createHash("sha256").update(`${owner}\n${json}`).digest("hex")}`;

export type PayloadStore = Awaited<ReturnType<typeof createPayloadStore>>;

/**
 * Large texts and Temporal's payloads, by what they are. Shared ones live as long as their last user.
 * @param executionDays how long executions are kept, and so the texts that they name
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
    const found = await payloads.findOne({ _id: hash }).lean<{ bytes: { buffer: Uint8Array } | Buffer }>().exec();
    if (!found) return null;
    return new Uint8Array(Buffer.isBuffer(found.bytes) ? found.bytes : found.bytes.buffer);
  };

  return {
    /** @param owner the workflow that it belongs to, where that is known */
    put: (hash: string, bytes: Uint8Array, owner?: string): Promise<void> => write(hash, bytes, RETENTION.claimChecks.days, owner),
    get,

    removeExpired: (now: Date, limit: number): Promise<number> => removeSome(payloads, { expiresAt: { $lt: now } }, limit),

    /** Removes some of what belongs to users or runs. */
    removeOwned: (owners: readonly string[], limit: number): Promise<number> =>
      removeSome(payloads, { owner: { $in: [...owners] } }, limit),

    /** Keeps a JSON text for a row: in the row itself while it is short. @param owner the user or the run that it belongs to */
    putText: async (json: string, owner: string): Promise<StoredText> => {
      if (json.length <= INLINE_CHARS) return { json };
      const bytes = gzipSync(json, { level: 1 });
      const hash = hashOf(json, owner);
      await write(hash, bytes, executionDays + TEXT_MARGIN_DAYS, owner);
      return { hash };
    },
    /** Keeps a text that many rows of a user name: never in one of them. */
    putShared: async (json: string, userId: string): Promise<StoredText> => {
      const hash = hashOf(json, userId);
      await write(hash, gzipSync(json, { level: 1 }), executionDays + TEXT_MARGIN_DAYS, userId);
      return { hash };
    },
    /** @returns null when it is gone */
    getText: async (stored: StoredText): Promise<string | null> => {
      if ("json" in stored) return stored.json;
      const bytes = await get(stored.hash);
      return bytes && gunzipSync(bytes).toString("utf8");
    },
  };
};
