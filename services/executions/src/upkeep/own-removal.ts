import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import { createRemoval, untilNone } from "@nodeloom/platform";
import type { Stores } from "../store/stores";
import type { Owner } from "./retention";

export interface OwnRemovalOptions {
  stores: {
    rows: Pick<Stores["rows"], "removeExecutions" | "removeRefused">;
    submissions: Pick<Stores["submissions"], "removeOld">;
    payloads: Pick<Stores["payloads"], "removeExpired">;
  };
  /** How long executions are kept. */
  executionDays?: number;
  now?: () => Date;
}

const EXECUTIONS_PAGE = 100;
const ROWS_PAGE = 1_000;

/** Removes executions and what goes with them, once they were kept as long as the table of retention says. */
export const createOwnRemoval = (options: OwnRemovalOptions): Owner => {
  const { stores, executionDays = RETENTION.executions.days, now = () => new Date() } = options;
  const remove = createRemoval({
    executions: (cursor) => stores.rows.removeExecutions(expiresBefore({ days: executionDays }, now()), EXECUTIONS_PAGE, cursor),
    refusedRuns: async () => untilNone(await stores.rows.removeRefused(now(), ROWS_PAGE)),
    submissions: async () => untilNone(await stores.submissions.removeOld(expiresBefore(RETENTION.submissions, now()), ROWS_PAGE)),
    payloads: async () => untilNone(await stores.payloads.removeExpired(now(), ROWS_PAGE)),
  });
  return { removeExpired: ({ cursor }) => remove(cursor) };
};
