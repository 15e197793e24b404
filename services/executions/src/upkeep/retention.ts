/** Deletes expired data of all owners concurrently. */
import { type Logger, type Removal, createRemoval, untilNone } from "@nodeloom/platform";
import { notePass } from "../meters";
import type { RetentionReport } from "../workflow/activity-types";
import { TIMING } from "../run/timing";
import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import type { PendingOf } from "../record/runs/expiry";
import type { Stores } from "../record/stores";
import { throughPages, type OwnerPage, type OwnerProgress } from "../workflow/owner-pages";

/** A service with expired data. Each call deletes one page and can be repeated. */
export interface Owner {
  removeExpired(request: { cursor: string }, options?: { deadlineMs?: number }): Promise<Removal>;
}

export interface RetentionOptions {
  owners: Readonly<Record<string, Owner>>;
  logger: Logger;
}

export type RetentionProgress = OwnerProgress;

/**
 * Asks every service to delete its expired data, page by page. If a service fails, the others continue; the pass then fails at the end and
 * is repeated.
 */
export const createRetention = ({ owners, logger }: RetentionOptions) => {
  const failed = "an owner could not remove what it has kept long enough";
  /** Runs `throughPages` once per owner, so that an owner with much data doesn't delay the others. */
  return async (beat: (progress: RetentionProgress) => void, progress: RetentionProgress = {}): Promise<RetentionReport> => {
    const reached: RetentionProgress = { ...progress };
    const passes = Object.entries(owners).map(([name, owner]) => {
      const page: OwnerPage = (cursor) => owner.removeExpired({ cursor }, { deadlineMs: TIMING.renewPage });
      const noted = (own: RetentionProgress): void => beat({ ...Object.assign(reached, own) });
      return throughPages({ owners: { [name]: page }, failed, logger }, noted, { [name]: progress[name] }).then((report) => {
        notePass(name);
        return report;
      });
    });
    const ends = await Promise.allSettled(passes);
    const report: RetentionReport = {};
    for (const end of ends) if (end.status === "fulfilled") Object.assign(report, end.value);
    logger.info({ removed: report }, "what was kept long enough was removed");
    const failure = ends.find((end) => end.status === "rejected");
    if (failure) throw failure.reason;
    return report;
  };
};

export interface OwnRemovalOptions {
  stores: {
    rows: Pick<Stores["rows"], "removeExecutions" | "removeRefused">;
    submissions: Pick<Stores["submissions"], "removeOld">;
    payloads: Pick<Stores["payloads"], "removeExpired">;
    batches: Pick<Stores["batches"], "removeExpired">;
    moderation: Pick<Stores["moderation"], "removeOld">;
    earlierMails: Pick<Stores["earlierMails"], "removeOld">;
  };
  pendingOf: PendingOf;
  executionDays?: number;
  now?: () => Date;
}

const EXECUTIONS_PAGE = 100;
/** Each batch is deleted with its rows. */
const BATCHES_PAGE = 20;
const ROWS_PAGE = 1_000;

/** Deletes executions and dependent data according to the retention table. */
export const createOwnRemoval = (options: OwnRemovalOptions): Owner => {
  const { stores, pendingOf, executionDays = RETENTION.executions.days, now = () => new Date() } = options;
  const remove = createRemoval({
    executions: (cursor) => stores.rows.removeExecutions(expiresBefore({ days: executionDays }, now()), EXECUTIONS_PAGE, cursor, pendingOf),
    batches: () => stores.batches.removeExpired(expiresBefore({ days: executionDays }, now()), BATCHES_PAGE),
    refusedRuns: async () => untilNone(await stores.rows.removeRefused(now(), ROWS_PAGE)),
    moderation: async () => {
      const before = {
        rejectedBefore: expiresBefore(RETENTION.moderation, now()),
        passedBefore: expiresBefore({ days: executionDays }, now()),
      };
      return untilNone(await stores.moderation.removeOld(before, ROWS_PAGE));
    },
    submissions: async () => untilNone(await stores.submissions.removeOld(expiresBefore(RETENTION.submissions, now()), ROWS_PAGE)),
    payloads: async () => untilNone(await stores.payloads.removeExpired(now(), ROWS_PAGE)),
    mails: async () => untilNone(await stores.earlierMails.removeOld(expiresBefore(RETENTION.mails, now()), ROWS_PAGE)),
  });
  return { removeExpired: ({ cursor }) => remove(cursor) };
};
