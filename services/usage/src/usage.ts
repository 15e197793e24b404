import { CONFLICT_ATTEMPTS, DomainError, expiresBefore, groupBy, LIMITS, RETENTION, unavailable } from "@nodeloom/kernel";
import { createRemoval, retryOnConflict, untilNone } from "@nodeloom/platform";
import { groupSumsOf, type GroupSum } from "./groups/groups";
import { createIds, idsBetween } from "./ids";
import { QUOTE_ERROR_RUNS, quoteErrorOf, type QuoteError } from "./quote-error";
import {
  checked,
  REQUESTS,
  type DailySumsQuery,
  type GroupSumsQuery,
  type ModelNamesQuery,
  type QuoteErrorQuery,
  type RowsQuery,
  type RunOutcome,
  type RunStart,
} from "./requests";
import type { Folding } from "./totals/folding";
import type { CountedPart, UsageRow, UsageStore } from "./store";
import { countIn, dailySumsIn, daysBetween, matches, modelNamesIn, MS_PER_DAY, totalKey, type DailySum } from "./totals/totals";
import type { TotalsStore } from "./totals/totals-store";

/** Number of rows outside the totals that triggers a fold. */
const MANY_UNCOUNTED = 200;
const REMOVED_PAGE = 1_000;
/** Owners whose rows are removed at a time. */
const REMOVED_OWNERS = 8;
/** A page ends after this time, well before the deadline of its call. Its rows can all have different owners. */
const REMOVED_PAGE_MS = 8_000;

const NO_OUTCOME = {
  costMicroUsd: 0,
  userCostMicroUsd: 0,
  millicredits: 0,
  durationMs: 0,
  errorCode: null,
  requestId: null,
  modelCredits: [],
};

const processingRow = (id: number, { startedAt, ...run }: RunStart): UsageRow => ({
  id,
  ...run,
  ...NO_OUTCOME,
  status: "processing",
  createdAt: startedAt,
});

const notTheirs = (): DomainError => new DomainError("conflict", "ALREADY_EXISTS", "this execution belongs to another user");

export type Usage = ReturnType<typeof createUsage>;

export interface UsageOptions {
  store: UsageStore;
  totals: Pick<TotalsStore, "total" | "progress" | "days">;
  folding: Folding;
  /** Upper bound of all row ids when the process starts. */
  latestId: number;
  now?: () => Date;
  /** Number of rows removed per call. */
  removedPage?: number;
}

/** Stores one row for each run. The row is inserted when the run is admitted and becomes final once. */
export const createUsage = ({ store, totals, folding, latestId, now = () => new Date(), removedPage = REMOVED_PAGE }: UsageOptions) => {
  const nextId = createIds(latestId);

  /** Reads totals and the rows outside them in a consistent state; undefined if the rows keep changing. */
  const consistent = <T>(userId: string, readTotal: () => Promise<T>): Promise<{ total: T; others: CountedPart[] } | undefined> =>
    retryOnConflict(CONFLICT_ATTEMPTS.usageTotals, async () => {
      const { folds } = await folding.progress(userId);
      const [total, others] = await Promise.all([readTotal(), store.uncounted(userId)]);
      const after = await totals.progress(userId);
      if (after.folds !== folds || after.pending) return undefined;
      if (others.length > MANY_UNCOUNTED) folding.wake(userId);
      return { total, others };
    });

  /** Returns the reason why a run got no row. */
  const whyNot = async (executionId: string): Promise<DomainError> =>
    (await store.parts([executionId])).length > 0 ? notTheirs() : unavailable("too many runs start at once: try again", 1);

  const countOf = async (query: RowsQuery): Promise<number> => {
    const key = totalKey(query.userId, query.workflowSlug, query.modelId);
    const result = await consistent(query.userId, () => totals.total(key));
    if (!result) return store.countAll(query);
    return countIn(result.total.counts, query) + result.others.filter(matches(query)).length;
  };

  const removeRows = async (): Promise<number> => {
    const endsAt = performance.now() + REMOVED_PAGE_MS;
    const expired = groupBy(await store.expired(expiresBefore(RETENTION.usage, now()), removedPage), ({ userId }) => userId);
    const owners = [...expired];
    let removed = 0;
    for (let from = 0; from < owners.length && performance.now() < endsAt; from += REMOVED_OWNERS) {
      const some = owners.slice(from, from + REMOVED_OWNERS);
      const counts = await Promise.all(
        some.map(([userId, rows]) =>
          folding.remove(
            userId,
            rows.map(({ executionId }) => executionId),
          ),
        ),
      );
      for (const count of counts) removed += count;
    }
    return removed;
  };

  return {
    /** Inserts the row of a run. Idempotent. @returns id of the row */
    start: async (request: RunStart): Promise<number> => {
      const run = checked(REQUESTS.run, request);
      const id = await retryOnConflict(CONFLICT_ATTEMPTS.usageRow, async () => {
        const next = nextId();
        if (await store.insert(processingRow(next, run))) return next;
        // If the run has no row, another process used the id in the same millisecond.
        return (await store.find(run.userId, run.executionId))?.id;
      });
      if (id === undefined) throw await whyNot(run.executionId);
      return id;
    },

    /**
     * Makes a run's row final, and creates it if it is missing. The first outcome wins.
     * @param unstarted true if the row is probably missing, so that it is inserted before a lookup
     */
    finish: async (request: RunStart, result: RunOutcome, unstarted = false): Promise<void> => {
      const run = checked(REQUESTS.run, request);
      const outcome = checked(REQUESTS.outcome, result);
      const insert = async (): Promise<boolean> => store.insert({ ...processingRow(nextId(), run), ...outcome });
      if (unstarted && (await insert())) return folding.noteFinal(run.userId);
      const writeResult = await retryOnConflict(CONFLICT_ATTEMPTS.usageRow, async () => {
        // A fallback model may have been called.
        const isRecorded = await store.finish(run.userId, run.executionId, { ...outcome, modelIds: run.modelIds });
        if (isRecorded) return "final";
        const existing = await store.find(run.userId, run.executionId);
        if (existing && existing.status !== "processing") return isRecorded === undefined ? "final" : "earlier";
        return !existing && (await insert()) ? "final" : undefined;
      });
      if (!writeResult) throw await whyNot(run.executionId);
      if (writeResult === "final") folding.noteFinal(run.userId);
    },

    /** Returns a page of a user's rows, newest first, with the total number of matches. */
    list: async (request: RowsQuery): Promise<{ rows: UsageRow[]; total: number }> => {
      const query = checked(REQUESTS.rows, request);
      const limit = query.limit || LIMITS.usagePageDefault;
      // An offset beyond the end would scan all rows.
      if (query.offset > 0) {
        const total = await countOf(query);
        return { rows: query.offset < total ? await store.page(query, limit) : [], total };
      }
      const [rows, total] = await Promise.all([store.page(query, limit), countOf(query)]);
      return { rows, total };
    },

    /** Returns the sorted models that a user's runs have called. */
    modelNames: async (request: ModelNamesQuery): Promise<string[]> => {
      const query = checked(REQUESTS.modelNames, request);
      const key = totalKey(query.userId, "", "");
      const result = await consistent(query.userId, () => totals.total(key));
      if (!result) return (await store.modelNamesOfAll(query)).sort();
      return modelNamesIn(result.total.models, result.others, query);
    },

    quoteError: async (request: QuoteErrorQuery): Promise<QuoteError> =>
      quoteErrorOf(await store.costs(checked(REQUESTS.quoteError, request), QUOTE_ERROR_RUNS)),

    /** Returns sums of a user's final runs by day and model. */
    dailySums: async (request: DailySumsQuery): Promise<DailySum[]> => {
      const query = checked(REQUESTS.dailySums, request);
      const days = daysBetween(query.fromDay, query.toDay);
      const result = await consistent(query.userId, () => totals.days(query.userId, days));
      if (!result) throw unavailable("usage is being updated: try again");
      const recent = result.others.filter(({ status }) => status !== "processing");
      return dailySumsIn(result.total, recent, query);
    },

    /** Returns sums of a user's final runs in a range of days, by key, workflow or metadata member. */
    groupSums: async (request: GroupSumsQuery): Promise<GroupSum[]> => {
      const query = checked(REQUESTS.groupSums, request);
      const [from, to] = [new Date(query.fromDay), new Date(Date.parse(query.toDay) + MS_PER_DAY)];
      return groupSumsOf(store.grouped(query.userId, [from, to], idsBetween(from, to)), query);
    },

    /** Removes expired final rows and their share of the totals, one page per call. */
    removeExpired: createRemoval({ usage: async () => untilNone(await removeRows()) }),
  };
};
