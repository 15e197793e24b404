import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import { fromCursor, pageOf } from "@nodeloom/platform";
import { pageSize } from "../page-size";
import type { KeyRequestStore, ReportedRequest } from "./key-request-store";
import type { KeyStore, Ownership } from "./key-store";
import type { KeyRequestRecord } from "./records";
import { noSuchKey } from "./webhooks";

/** The request log of keys: methods, routes and outcomes, and never a query, a header or a body. */
export interface KeyRequests {
  /** Stores a batch of requests, oldest first. */
  record(requests: readonly ReportedRequest[]): Promise<void>;
  /**
   * Lists requests of an owner's key, newest first; also of a deleted key.
   * @param statuses lowest and highest status
   * @throws NOT_FOUND
   */
  list(
    of: Ownership,
    query: { keyId: string; statuses: readonly [number, number]; limit: number; cursor: string },
  ): Promise<{ rows: KeyRequestRecord[]; nextCursor: string }>;
}

export const createKeyRequests = ({ store, keys }: { store: KeyRequestStore; keys: KeyStore }): KeyRequests => {
  const requireKey = async (of: Ownership, keyId: string): Promise<void> => {
    if (await keys.findOwned(of, keyId)) return;
    const deletedKeys = await keys.listDeleted(of.userId, [keyId]);
    const isOwned = deletedKeys.some(({ madeBy }) => of.madeBy === undefined || madeBy === of.madeBy);
    if (!isOwned) throw noSuchKey();
  };

  return {
    record: async (requests) => {
      if (requests.length > LIMITS.keyRequests)
        throw invalidRequest([{ path: "requests", message: `must be at most ${LIMITS.keyRequests}` }]);
      await store.record(requests);
    },
    list: async (of, { keyId, statuses, limit, cursor }) => {
      const size = pageSize(limit);
      const after = fromCursor(cursor);
      await requireKey(of, keyId);
      return pageOf(await store.page({ keyId, statuses, after, limit: size + 1 }), size, ({ at }) => at);
    },
  };
};
