/** Erases many runs by id, by metadata or by workflow. */
import { DomainError, ERASURE_BOUNDS, invalidRequest, LIMITS } from "@nodeloom/kernel";
import { fromCursor, pageOf } from "@nodeloom/platform";
import type { erasures as proto } from "@nodeloom/proto";
import { type Carriers, type ErasureRecord, type ErasureScope, type Selection, metadataOfSelection } from "../record/erasure/erasures";
import type { Stores } from "../record/stores";
import { metadataKeys } from "../run/record";
import type { Carrying } from "./carriers";

export interface ManyErasuresOptions {
  stores: Pick<Stores, "erasures">;
  carriersOf: Carrying;
}

export type ManyErasures = ReturnType<typeof createManyErasures>;

const erasureNotFound = (): DomainError => new DomainError("not_found", "NOT_FOUND", "there is no such erasure");

const selectionOf = ({ by }: proto.CreateErasureRequest): Selection => {
  switch (by?.$case) {
    case "executions":
      return { executions: [...new Set(by.value.ids)] };
    case "metadata":
      return { metadata: { name: by.value.name, value: by.value.value } };
    case "workflowSlug":
      return { workflow: by.value };
    case undefined:
      throw invalidRequest([{ path: "", message: "send exactly one of executions, metadata, workflow" }]);
  }
};

export const createManyErasures = ({ stores: { erasures }, carriersOf }: ManyErasuresOptions) => {
  /** Returns the erasure that an earlier request with the same id created. @throws NOT_FOUND, IDEMPOTENCY_KEY_REUSED */
  const replayed = async ({ erasureId, userId, fingerprint }: proto.CreateErasureRequest): Promise<ErasureRecord | undefined> => {
    const record = await erasures.find(erasureId);
    if (!record) return undefined;
    if (record.userId !== userId) throw erasureNotFound();
    if (record.fingerprint === fingerprint) return record;
    const message = "this Idempotency-Key was used with a different request body: use a new key";
    throw new DomainError("conflict", "IDEMPOTENCY_KEY_REUSED", message);
  };

  const checkRunning = async (userId: string): Promise<void> => {
    const limit = ERASURE_BOUNDS.running;
    if ((await erasures.countRunning(userId)) < limit) return;
    const message = `at most ${limit} erasures can run at once: wait until one is completed`;
    throw new DomainError("exhausted", "CONCURRENCY_LIMIT_EXCEEDED", message, { limit, retryAfter: 60 });
  };

  const begin = async (request: ErasureScope, fingerprint: string): Promise<number> => {
    await checkRunning(request.userId);
    const selection = request.selection!;
    const entry = metadataOfSelection(selection);
    const matched = await erasures.countShown(request);
    const carriers = entry && (await carriersOf(request.userId, entry));
    const kind = Object.keys(selection)[0] as ErasureRecord["kind"];
    await erasures.insert({
      ...{ ...request, kind, state: "running", matched, fingerprint, createdAt: new Date(), finishedAt: null },
      ...(entry ? { metadataName: entry.name } : {}),
      ...(carriers ? { carriers } : {}),
    });
    return matched;
  };

  const remainingOf = async (record: ErasureRecord): Promise<Pick<proto.Erasure, "erased" | "remaining">> => {
    if (record.state === "completed") return { erased: record.matched, remaining: 0 };
    const [pending, removing] = [await erasures.countPending(record), await erasures.countRemoving(record._id)];
    const remaining = pending + removing;
    // `matched` doesn't count accepted runs that weren't visible yet when the erasure was created.
    return { erased: Math.max(0, record.matched - remaining), remaining };
  };

  const messageOf = async (record: ErasureRecord): Promise<proto.Erasure> => {
    const { _id: erasureId, state, matched, createdAt, finishedAt, kind, metadataName = "", before } = record;
    const carriers: Carriers = record.carriers ?? { schedules: [], hooks: [], keys: [] };
    const summary = { erasureId, state, matched, createdAt, finishedAt: finishedAt ?? undefined, by: kind, metadataName, before };
    return { ...summary, ...carriers, ...(await remainingOf(record)) };
  };

  return {
    /** Creates an erasure, which the relay processes. @throws CONCURRENCY_LIMIT_EXCEEDED, IDEMPOTENCY_KEY_REUSED */
    create: async (request: proto.CreateErasureRequest): Promise<proto.CreateErasureResponse> => {
      const { erasureId: _id, userId, before = new Date(), dryRun, within, fingerprint } = request;
      const erasure: ErasureScope = { _id, userId, selection: selectionOf(request), within: metadataKeys(within), before };
      if (dryRun) return { matched: await erasures.countShown(erasure), replayed: false };
      const earlier = await replayed(request);
      return earlier ? { matched: earlier.matched, replayed: true } : { matched: await begin(erasure, fingerprint), replayed: false };
    },

    /** @throws NOT_FOUND, also for a key that fixes other metadata */
    get: async ({ erasureId, userId, within }: proto.GetErasureRequest): Promise<proto.Erasure> => {
      const record = await erasures.find(erasureId);
      if (!record || record.userId !== userId || metadataKeys(within).some((key) => !record.within.includes(key))) throw erasureNotFound();
      return messageOf(record);
    },

    /** Returns a page of an account's erasures, newest first. A key with fixed metadata finds those that it can create. */
    list: async ({ userId, within, limit, cursor }: proto.ListErasuresRequest): Promise<proto.ListErasuresResponse> => {
      const size = Math.min(limit || LIMITS.pageDefault, LIMITS.usagePageRows);
      const records = await erasures.list(userId, metadataKeys(within), size + 1, fromCursor(cursor));
      const { rows, nextCursor } = pageOf(records, size, ({ createdAt }) => createdAt);
      return { erasures: await Promise.all(rows.map(messageOf)), nextCursor };
    },
  };
};
