import type { Payload, PayloadCodec } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { createKeyring } from "../secrets/keyring";
import { UNENCRYPTED } from "./payload-keys";

/** Encrypts Temporal's payloads. */

const { Payload: PayloadType } = temporal.api.common.v1;
const ENCODING = "encoding";

const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString("utf8");

const ENCRYPTED = "binary/encrypted";
/** Names the key; the same member that Temporal's own samples use. */
const KEY_ID = "encryption-key-id";
const JSON_PLAIN = "json/plain";
/** What a run's timeline is read by: summaries, ids, states. */
const MAX_PLAIN_BYTES = 256;
const OBJECT_OR_LIST = /^\s*[[{]/;

/** Short values without members: no user's words or settings are carried like that. */
const isPlain = ({ metadata, data }: Payload): boolean => {
  const encoding = text(metadata?.[ENCODING]);
  if (!data || data.length === 0) return true;
  return encoding === JSON_PLAIN && data.length <= MAX_PLAIN_BYTES && !OBJECT_OR_LIST.test(text(data));
};

/**
 * Keeps what runs carry from those who may read Temporal's history or database, and from those who may write to it: each payload is
 * encrypted as a whole. The first entry is what is written by, all are what is read by; `unencrypted` among them stands for payloads
 * as they are, which are refused otherwise. Without entries nothing is encrypted.
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
