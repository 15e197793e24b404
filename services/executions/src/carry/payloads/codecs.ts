import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Payload, PayloadCodec } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { createKeyring, isEncryptionKey, list } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { PayloadStore } from "../../store/payloads";

/** What Temporal's payloads go through: large ones are put away, and what is left is encrypted. */

const { Payload: PayloadType } = temporal.api.common.v1;
const ENCODING = "encoding";

const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString("utf8");

const CLAIM_CHECK = "binary/nodeloom-claim-check";
/** Payloads above this are kept in the executions database; Temporal carries their hash. */
const MAX_INLINE_BYTES = 16 * 1024;
const CACHE_BYTES = 32 * 1024 * 1024;
/** Written again after this, so that a payload in use never expires in the store. */
const TRUSTED_MS = 24 * 3_600_000;

/** Keeps histories small whatever a graph carries: large payloads travel by reference (the claim-check pattern). */
export const createClaimCheckCodec = (store: Pick<PayloadStore, "put" | "get">): PayloadCodec => {
  const cache = new LRUCache<string, Uint8Array>({ maxSize: CACHE_BYTES, sizeCalculation: (bytes) => bytes.length + 1, ttl: TRUSTED_MS });
  /** @param owner the workflow whose payload it is: what two of them carry is kept for each */
  const check = async (payload: Payload, owner: string | undefined): Promise<Payload> => {
    if ((payload.data?.length ?? 0) <= MAX_INLINE_BYTES) return payload;
    const bytes = gzipSync(PayloadType.encode(payload).finish(), { level: 1 });
    const hash = createHash("sha256")
      .update(bytes)
      .update(owner ?? "")
      .digest("hex");
    if (!cache.has(hash)) await store.put(hash, bytes, owner);
    cache.set(hash, bytes);
    return { metadata: { [ENCODING]: Buffer.from(CLAIM_CHECK) }, data: Buffer.from(hash) };
  };

  const claim = async (payload: Payload): Promise<Payload> => {
    if (text(payload.metadata?.[ENCODING]) !== CLAIM_CHECK) return payload;
    const hash = text(payload.data);
    const bytes = cache.get(hash) ?? (await store.get(hash));
    if (!bytes) throw new Error(`payload ${hash} is gone`);
    cache.set(hash, bytes);
    return PayloadType.decode(gunzipSync(bytes));
  };

  return {
    encode: (payloads, context) => Promise.all(payloads.map((payload) => check(payload, context?.workflowId))),
    decode: (payloads) => Promise.all(payloads.map(claim)),
  };
};

const ENCRYPTED = "binary/encrypted";
/** Names the key; the same member that Temporal's own samples use. */
const KEY_ID = "encryption-key-id";
/** Takes the place of a key in the list: payloads as they are. */
const UNENCRYPTED = "unencrypted";
const JSON_PLAIN = "json/plain";
/** What a run's timeline is read by: summaries, ids, states. */
const MAX_PLAIN_BYTES = 256;
const OBJECT_OR_LIST = /^\s*[[{]/;

const isEntry = (text: string): boolean => text === UNENCRYPTED || isEncryptionKey(text);

/** Keys as the environment names them, the newest first; one of them may be the word `unencrypted`. */
export const payloadKeys = (): z.ZodType<string[]> => list().pipe(z.array(z.string().refine(isEntry, "must be 64 hexadecimal digits")));

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
