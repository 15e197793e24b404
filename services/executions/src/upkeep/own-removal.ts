import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import { createRemoval, untilNone } from "@nodeloom/platform";
import type { ExecutionStore } from "../store/store";
import type { Owner } from "./retention";

export interface OwnRemovalOptions {
  store: Pick<ExecutionStore, "removeExecutions" | "removeRefused" | "removeSubmissions" | "removePayloads">;
  /** How long executions are kept. */
  executionDays?: number;
  now?: () => Date;
}

const EXECUTIONS_PAGE = 100;
const ROWS_PAGE = 1_000;

/** Removes executions and what goes with them, once they were kept as long as the table of retention says. */
export const createOwnRemoval = (options: OwnRemovalOptions): Owner => {
  const { store, executionDays = RETENTION.executions.days, now = () => new Date() } = options;
  const remove = createRemoval({
    executions: (cursor) => store.removeExecutions(expiresBefore({ days: executionDays }, now()), EXECUTIONS_PAGE, cursor),
    refusedRuns: async () => untilNone(await store.removeRefused(now(), ROWS_PAGE)),
    submissions: async () => untilNone(await store.removeSubmissions(expiresBefore(RETENTION.submissions, now()), ROWS_PAGE)),
    payloads: async () => untilNone(await store.removePayloads(now(), ROWS_PAGE)),
  });
  return { removeExpired: ({ cursor }) => remove(cursor) };
};
