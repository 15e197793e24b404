import { DomainError, LIMITS } from "@nodeloom/kernel";
import { createIds } from "./ids";
import { checked, REQUESTS, type ModelNamesQuery, type RowsQuery, type RunOutcome, type RunStart } from "./requests";
import type { UsageRow, UsageStore } from "./store";

/** A start and a finish of one run may each get in the other's way once. */
const FINISH_ATTEMPTS = 3;

const NO_OUTCOME = { costMicroUsd: 0, userCostMicroUsd: 0, millicredits: 0, durationMs: 0, errorCode: null, requestId: null } as const;

const processingRow = (id: number, { startedAt, ...run }: RunStart): UsageRow => ({
  id,
  ...run,
  ...NO_OUTCOME,
  status: "processing",
  createdAt: startedAt,
});

const notTheirs = (): DomainError => new DomainError("conflict", "ALREADY_EXISTS", "this execution belongs to another user");

export type Usage = ReturnType<typeof createUsage>;

/** One row per run: inserted when the run is admitted, final once. */
export const createUsage = ({ store }: { store: UsageStore }) => {
  const ids = createIds(store);

  return {
    /** Inserts the row of a run and answers its id; a repeated call answers the same. */
    start: async (request: RunStart): Promise<number> => {
      const run = checked(REQUESTS.run, request);
      const id = await ids.next();
      if (await store.insert(processingRow(id, run))) return id;
      const existing = await store.find(run.userId, run.executionId);
      if (!existing) throw notTheirs();
      return existing.id;
    },

    /**
     * Makes a run's row final, creating it when it is missing. The first outcome stays, whatever is said later.
     * @param unstarted the row is most likely missing: it is inserted without looking for it first.
     */
    finish: async (request: RunStart, result: RunOutcome, unstarted = false): Promise<void> => {
      const run = checked(REQUESTS.run, request);
      const outcome = checked(REQUESTS.outcome, result);
      if (unstarted && (await store.insert({ ...processingRow(await ids.next(), run), ...outcome }))) return;
      for (let attempt = 1; attempt <= FINISH_ATTEMPTS; attempt++) {
        if (await store.finish(run.userId, run.executionId, outcome)) return;
        const existing = await store.find(run.userId, run.executionId);
        if (existing && existing.status !== "processing") return;
        if (!existing && (await store.insert({ ...processingRow(await ids.next(), run), ...outcome }))) return;
      }
      throw notTheirs();
    },

    /** A page of a user's rows, newest first, with the number of all that match. */
    list: (request: RowsQuery): Promise<{ rows: UsageRow[]; total: number }> => {
      const query = checked(REQUESTS.rows, request);
      return store.list(query, query.limit || LIMITS.usagePageDefault);
    },

    /** The models that a user's runs have used, sorted. */
    modelNames: async (request: ModelNamesQuery): Promise<string[]> =>
      (await store.modelNames(checked(REQUESTS.modelNames, request))).sort(),
  };
};
