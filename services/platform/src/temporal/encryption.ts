import type { Payload, PayloadCodec } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { createKeyring } from "../secrets/keyring";
import { UNENCRYPTED } from "./payload-keys";

const { Payload: PayloadType } = temporal.api.common.v1;
const ENCODING = "encoding";

const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString("utf8");

const ENCRYPTED = "binary/encrypted";
/** Metadata member with the key's name, as in Temporal's samples. */
const KEY_ID = "encryption-key-id";
const JSON_PLAIN = "json/plain";
/**
 * Maximum size of an unencrypted payload. Short values such as summaries, ids and states stay readable, because they show a run's timeline.
 */
const MAX_PLAIN_BYTES = 256;
const OBJECT_OR_LIST = /^\s*[[{]/;

/** True if a payload is a short value without members. Users' texts and settings never have that form. */
const isPlain = ({ metadata, data }: Payload): boolean => {
  const encoding = text(metadata?.[ENCODING]);
  if (!data || data.length === 0) return true;
  return encoding === JSON_PLAIN && data.length <= MAX_PLAIN_BYTES && !OBJECT_OR_LIST.test(text(data));
};

/**
 * Protects runs against anyone who can read or write Temporal's history or database. Each payload is encrypted as a whole. The first key
 * encrypts, all keys decrypt. `unencrypted` in the list allows plain payloads, which are otherwise rejected. Without keys, nothing is
 * encrypted.
 */
export const createEncryptionCodec = (entries: readonly string[]): PayloadCodec => {
  const keys = entries.filter((entry) => entry !== UNENCRYPTED);
  const keyring = createKeyring({ keys, purpose: "nodeloom temporal payload key", variable: "TEMPORAL_PAYLOAD_KEYS" });
  const writesUnencrypted = !keyring || entries[0] === UNENCRYPTED;
  const readsUnencrypted = !keyring || entries.includes(UNENCRYPTED);

  const encrypt = (payload: Payload): Payload => {
    if (writesUnencrypted || isPlain(payload)) return payload;
    const { keyId, data } = keyring.seal(PayloadType.encode(payload).finish());
    return { metadata: { [ENCODING]: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(keyId) }, data };
  };

  const decrypt = (payload: Payload): Payload => {
    if (text(payload.metadata?.[ENCODING]) !== ENCRYPTED) {
      if (readsUnencrypted || isPlain(payload)) return payload;
      throw new Error("a payload is not encrypted, and TEMPORAL_PAYLOAD_KEYS does not have `unencrypted`");
    }
    const keyId = text(payload.metadata?.[KEY_ID]);
    if (!keyring) throw new Error(`a payload is encrypted with the key ${keyId}, which TEMPORAL_PAYLOAD_KEYS does not have`);
    return PayloadType.decode(keyring.open({ keyId, data: payload.data ?? new Uint8Array() }));
  };

  return { encode: (payloads) => Promise.resolve(payloads.map(encrypt)), decode: async (payloads) => payloads.map(decrypt) };
};
