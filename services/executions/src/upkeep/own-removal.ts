/** Deletes expired executions, and what depends on them. */
import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import { createRemoval, untilNone } from "@nodeloom/platform";
import type { Owner } from "../maintenance/retention";
import type { PendingOf } from "../record/runs/expiry";
import type { Stores } from "../record/stores";

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
