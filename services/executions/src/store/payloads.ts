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
 * A text is written when its run begins, and a run may wait in line and take two days, and wait for decisions besides: it must not go
 * before its row.
 */
const TEXT_MARGIN_DAYS = 3 + LIMITS.waitingHours / 24;
/** Texts up to this length are kept where they belong. */
const INLINE_CHARS = 2_048;

interface PayloadRecord {
  _id: string;
  bytes: Buffer;
  expiresAt: Date;
}
const payloadSchema = documents<PayloadRecord>("payloads");
payloadSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const hashOf = (json: string): string => `text-${createHash("sha256").update(json).digest("hex")}`;

export type PayloadStore = Awaited<ReturnType<typeof createPayloadStore>>;

/**
 * Large texts and Temporal's payloads, by what they are. Shared ones live as long as their last user.
 * @param executionDays how long executions are kept, and so the texts that they name
 */
export const createPayloadStore = (connection: Connection, executionDays: number) => {
  const payloads = connection.model("Payload", payloadSchema);

  const write = async (hash: string, bytes: Uint8Array, days: number): Promise<void> => {
    const expiresAt = new Date(Date.now() + days * DAY_MS);
    await payloads
      .updateOne(
        { _id: hash },
        { $setOnInsert: { bytes: Buffer.from(bytes) }, $max: { expiresAt } },
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
    put: (hash: string, bytes: Uint8Array): Promise<void> => write(hash, bytes, RETENTION.claimChecks.days),
    get,

    removeExpired: (now: Date, limit: number): Promise<number> => removeSome(payloads, { expiresAt: { $lt: now } }, limit),

    /** Keeps a JSON text for a row: in the row itself while it is short. */
    putText: async (json: string): Promise<StoredText> => {
      if (json.length <= INLINE_CHARS) return { json };
      const bytes = gzipSync(json, { level: 1 });
      const hash = hashOf(json);
      await write(hash, bytes, executionDays + TEXT_MARGIN_DAYS);
      return { hash };
    },
    /** Keeps a text that many rows name: never in one of them. */
    putShared: async (json: string): Promise<StoredText> => {
      const hash = hashOf(json);
      await write(hash, gzipSync(json, { level: 1 }), executionDays + TEXT_MARGIN_DAYS);
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
