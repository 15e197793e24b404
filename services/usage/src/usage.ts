import { CONFLICT_ATTEMPTS, DomainError, expiresBefore, groupBy, LIMITS, RETENTION, unavailable } from "@nodeloom/kernel";
import { createRemoval, retryOnConflict, untilNone } from "@nodeloom/platform";
import { groupSumsOf, type GroupSum } from "./groups/groups";
import { createIds, idsBetween } from "./ids";
import {
  checked,
  REQUESTS,
  type DailySumsQuery,
  type GroupSumsQuery,
  type ModelNamesQuery,
  type RowsQuery,
  type RunOutcome,
  type RunStart,
} from "./requests";
import type { Folding } from "./totals/folding";
import type { CountedPart, UsageRow, UsageStore } from "./store";
import { countIn, dailySumsIn, daysBetween, matches, modelNamesIn, MS_PER_DAY, totalKey, type DailySum } from "./totals/totals";
import type { TotalsStore } from "./totals/totals-store";

/** As many rows outside of the totals are worth a fold. */
const MANY_UNCOUNTED = 200;
const REMOVED_PAGE = 1_000;

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
  /** No row has a higher id. */
  latestId: number;
  now?: () => Date;
  /** Rows that one call removes at most. */
  removedPage?: number;
}

/** One row per run: inserted when the run is admitted, final once. */
export const createUsage = ({ store, totals, folding, latestId, now = () => new Date(), removedPage = REMOVED_PAGE }: UsageOptions) => {
  const nextId = createIds(latestId);

  /** What was read of totals, and the rows that are not in them, as of one moment; undefined where rows keep moving into them. */
  const consistent = <T>(userId: string, read: () => Promise<T>): Promise<{ total: T; others: CountedPart[] } | undefined> =>
    retryOnConflict(CONFLICT_ATTEMPTS.usageTotals, async () => {
      const { folds } = await folding.progress(userId);
      const [total, others] = await Promise.all([read(), store.uncounted(userId)]);
      const after = await totals.progress(userId);
      if (after.folds !== folds || after.pending) return undefined;
      if (others.length > MANY_UNCOUNTED) folding.wake(userId);
      return { total, others };
    });

  /** Why a run could not be given its row. */
  const whyNot = async (executionId: string): Promise<DomainError> =>
    (await store.parts([executionId])).length > 0 ? notTheirs() : unavailable("the ids of other rows were in the way", 1);

  const countOf = async (query: RowsQuery): Promise<number> => {
    const key = totalKey(query.userId, query.workflowSlug, query.modelId);
    const found = await consistent(query.userId, () => totals.total(key));
    if (!found) return store.countAll(query);
    return countIn(found.total.counts, query) + found.others.filter(matches(query)).length;
  };

  const removeRows = async (): Promise<number> => {
    const expired = groupBy(await store.expired(expiresBefore(RETENTION.usage, now()), removedPage), ({ userId }) => userId);
    let removed = 0;
    for (const [userId, rows] of expired) {
      if (rows.some(({ isCounted }) => !isCounted)) await folding.foldAll(userId, 1);
      removed += await folding.remove(
        userId,
        rows.map(({ executionId }) => executionId),
      );
    }
    return removed;
  };

  return {
    /** Inserts the row of a run and answers its id; a repeated call answers the same. */
    start: async (request: RunStart): Promise<number> => {
      const run = checked(REQUESTS.run, request);
      const id = await retryOnConflict(CONFLICT_ATTEMPTS.usageRow, async () => {
        const next = nextId();
        if (await store.insert(processingRow(next, run))) return next;
        // Without a row of this run it was the id that was taken: another process may have given it in the same millisecond.
        return (await store.find(run.userId, run.executionId))?.id;
      });
      if (id === undefined) throw await whyNot(run.executionId);
      return id;
    },

    /**
     * Makes a run's row final, creating it when it is missing. The first outcome stays, whatever is said later.
     * @param unstarted the row is most likely missing: it is inserted without looking for it first.
     */
    finish: async (request: RunStart, result: RunOutcome, unstarted = false): Promise<void> => {
      const run = checked(REQUESTS.run, request);
      const outcome = checked(REQUESTS.outcome, result);
      const insert = async (): Promise<boolean> => store.insert({ ...processingRow(nextId(), run), ...outcome });
      if (unstarted && (await insert())) return folding.noteFinal(run.userId);
      const made = await retryOnConflict(CONFLICT_ATTEMPTS.usageRow, async () => {
        // A model may have been called in the place of another.
        const found = await store.finish(run.userId, run.executionId, { ...outcome, modelIds: run.modelIds });
        if (found) return "final";
        const existing = await store.find(run.userId, run.executionId);
        if (existing && existing.status !== "processing") return found === undefined ? "final" : "earlier";
        return !existing && (await insert()) ? "final" : undefined;
      });
      if (!made) throw await whyNot(run.executionId);
      if (made === "final") folding.noteFinal(run.userId);
    },

    /** A page of a user's rows, newest first, with the number of all that match. */
    list: async (request: RowsQuery): Promise<{ rows: UsageRow[]; total: number }> => {
      const query = checked(REQUESTS.rows, request);
      const limit = query.limit || LIMITS.usagePageDefault;
      // A page behind the end would cost the way to it.
      if (query.offset > 0) {
        const total = await countOf(query);
        return { rows: query.offset < total ? await store.page(query, limit) : [], total };
      }
      const [rows, total] = await Promise.all([store.page(query, limit), countOf(query)]);
      return { rows, total };
    },

    /** The models that a user's runs have used, sorted. */
    modelNames: async (request: ModelNamesQuery): Promise<string[]> => {
      const query = checked(REQUESTS.modelNames, request);
      const key = totalKey(query.userId, "", "");
      const found = await consistent(query.userId, () => totals.total(key));
      if (!found) return (await store.modelNamesOfAll(query)).sort();
      return modelNamesIn(found.total.models, found.others, query);
    },

    /** What a user's final runs came to, by day and model. */
    dailySums: async (request: DailySumsQuery): Promise<DailySum[]> => {
      const query = checked(REQUESTS.dailySums, request);
      const days = daysBetween(query.fromDay, query.toDay);
      const found = await consistent(query.userId, () => totals.days(query.userId, days));
      if (!found) throw unavailable("usage is being summed up; ask again");
      const recent = found.others.filter(({ status }) => status !== "processing");
      return dailySumsIn(found.total, recent, query);
    },

    /** What a user's final runs of some days came to, by key, workflow or a member of metadata. */
    groupSums: async (request: GroupSumsQuery): Promise<GroupSum[]> => {
      const query = checked(REQUESTS.groupSums, request);
      const [from, to] = [new Date(query.fromDay), new Date(Date.parse(query.toDay) + MS_PER_DAY)];
      return groupSumsOf(store.grouped(query.userId, [from, to], idsBetween(from, to)), query);
    },

    /** Removes final rows that were kept as long as the table of retention says, with their part of the totals, a page per call. */
    removeExpired: createRemoval({ usage: async () => untilNone(await removeRows()) }),
  };
};
