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
/** Takes the place of a key in the list: payloads as they are. */
const UNENCRYPTED = "unencrypted";
const ENTRY = new RegExp(`^([0-9a-fA-F]{64}|${UNENCRYPTED})$`);
const JSON_PLAIN = "json/plain";
/** What a run's timeline is read by: summaries, ids, states. */
const MAX_PLAIN_BYTES = 256;
const OBJECT_OR_LIST = /^\s*[[{]/;

/** Keys as the environment names them, the newest first; one of them may be the word `unencrypted`. */
export const payloadKeys = (): z.ZodType<string[]> => list().pipe(z.array(z.string().regex(ENTRY, "must be 64 hexadecimal digits")));

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
 * Keeps what runs carry from those who may read Temporal's history or database, and from those who may write to it: AES-256-GCM, with
 * a nonce of its own for each payload, bound to the name of its key. The first entry is what is written by, all are what is read by;
 * `unencrypted` among them stands for payloads as they are, which are refused otherwise. Without entries nothing is encrypted.
 */
export const createEncryptionCodec = (entries: readonly string[]): PayloadCodec => {
  const keys = entries.filter((entry) => entry !== UNENCRYPTED).map(toKey);
  const current = entries[0] === UNENCRYPTED ? undefined : keys[0];
  const readsUnencrypted = keys.length === 0 || entries.includes(UNENCRYPTED);
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
    if (text(payload.metadata?.[ENCODING]) !== ENCRYPTED) {
      if (readsUnencrypted || isPlain(payload)) return payload;
      throw new Error("a payload is not encrypted, and TEMPORAL_PAYLOAD_KEYS does not have `unencrypted`");
    }
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
