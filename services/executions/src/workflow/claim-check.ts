import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Payload, PayloadCodec } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { LRUCache } from "lru-cache";
import type { PayloadStore } from "../record/payloads";

const { Payload: PayloadType } = temporal.api.common.v1;
const ENCODING = "encoding";

const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString("utf8");

const CLAIM_CHECK = "binary/nodeloom-claim-check";
/** Larger payloads are stored in the executions database, and Temporal gets their hash. */
const MAX_INLINE_BYTES = 16 * 1024;
const CACHE_BYTES = 32 * 1024 * 1024;
/** A payload in use is written again after this time, so that it never expires. */
const TRUSTED_MS = 24 * 3_600_000;

/** Keeps histories small: Temporal gets references to large payloads (the claim-check pattern). */
export const createClaimCheckCodec = (store: Pick<PayloadStore, "put" | "get">): PayloadCodec => {
  const cache = new LRUCache<string, Uint8Array>({ maxSize: CACHE_BYTES, sizeCalculation: (bytes) => bytes.length + 1, ttl: TRUSTED_MS });
  /** @param owner workflow that the payload belongs to. Equal payloads of two workflows are stored separately. */
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
