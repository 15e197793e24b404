import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Payload, PayloadCodec } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { list } from "@nodeloom/platform";
import { z } from "zod";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_CHARS = 8;
const ENCODING = "encoding";
const ENCRYPTED = "binary/encrypted";
/** Names the key; the same member that Temporal's own samples use. */
const KEY_ID = "encryption-key-id";
const HEX_KEY = /^[0-9a-f]{64}$/i;
const JSON_PLAIN = "json/plain";
/** What a run's timeline is read by: summaries, ids, states. */
const MAX_PLAIN_BYTES = 256;
const OBJECT_OR_LIST = /^\s*[[{]/;

/** Keys as the environment names them, the newest first. */
export const payloadKeys = (): z.ZodType<string[]> => list().pipe(z.array(z.string().regex(HEX_KEY, "must be 64 hexadecimal digits")));

const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString("utf8");

interface Key {
  id: string;
  secret: Buffer;
}

const toKey = (hex: string): Key => {
  const secret = Buffer.from(hex, "hex");
  return { id: createHash("sha256").update("nodeloom temporal payload key").update(secret).digest("hex").slice(0, ID_CHARS), secret };
};

/** Short values without members: no user's words or settings are carried like that. */
const isPlain = ({ metadata, data }: Payload): boolean => {
  const encoding = text(metadata?.[ENCODING]);
  if (!data || data.length === 0) return true;
  return encoding === JSON_PLAIN && data.length <= MAX_PLAIN_BYTES && !OBJECT_OR_LIST.test(text(data));
};

/**
 * Keeps what runs carry from those who may read Temporal's history or database: AES-256-GCM, with a nonce of its own for each
 * payload, bound to the name of its key. The first key encrypts; all of them decrypt, and what was never encrypted is read as it is.
 */
export const createEncryptionCodec = (hexKeys: readonly string[]): PayloadCodec => {
  const keys = hexKeys.map(toKey);
  const [current] = keys;
  const { Payload: PayloadType } = temporal.api.common.v1;

  const encrypt = (payload: Payload): Payload => {
    if (!current || isPlain(payload)) return payload;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, current.secret, nonce).setAAD(Buffer.from(current.id));
    const sealed = Buffer.concat([cipher.update(PayloadType.encode(payload).finish()), cipher.final()]);
    return {
      metadata: { [ENCODING]: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(current.id) },
      data: Buffer.concat([nonce, sealed, cipher.getAuthTag()]),
    };
  };

  const decrypt = (payload: Payload): Payload => {
    if (text(payload.metadata?.[ENCODING]) !== ENCRYPTED) return payload;
    const id = text(payload.metadata?.[KEY_ID]);
    const key = keys.find((one) => one.id === id);
    if (!key) throw new Error(`a payload is encrypted with the key ${id}, which TEMPORAL_PAYLOAD_KEYS does not have`);
    const data = Buffer.from(payload.data ?? []);
    const decipher = createDecipheriv(CIPHER, key.secret, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(id)).setAuthTag(data.subarray(-TAG_BYTES));
    return PayloadType.decode(Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]));
  };

  return { encode: (payloads) => Promise.resolve(payloads.map(encrypt)), decode: async (payloads) => payloads.map(decrypt) };
};
