/** Stores parts of an import until it has ended. */
import { gunzipSync, gzipSync } from "node:zlib";
import type { PayloadStore } from "../record/payloads";

export const storeJson = (payloads: Pick<PayloadStore, "put">, key: string, value: unknown, ownerId: string): Promise<void> =>
  payloads.put(key, gzipSync(JSON.stringify(value), { level: 1 }), ownerId);

/** @returns undefined if the part has expired */
export const storedJson = async <T>(payloads: Pick<PayloadStore, "get">, key: string): Promise<T | undefined> => {
  const bytes = await payloads.get(key);
  return bytes ? (JSON.parse(gunzipSync(bytes).toString("utf8")) as T) : undefined;
};
