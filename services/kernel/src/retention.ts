/** How long data is kept. A daily Temporal schedule enforces this table; docs/operations/retention.md explains it. */

const DAY_MS = 24 * 60 * 60 * 1_000;

export type RetentionPeriod =
  | { days: number }
  | { months: number }
  /** Kept as long as data of another kind. */
  | { with: string }
  | "forever";

export const RETENTION = {
  /** Includes events, calls, inputs and results. `RETENTION_EXECUTIONS_DAYS` overrides it. */
  executions: { days: 90 },
  /** Counted from the end of the batch; its rows expire with it. Paused batches stay. */
  batches: { with: "executions" },
  /** Runs rejected before they started. They are kept as long as repeated requests must get the same response. */
  refusedRuns: { days: 2 },
  usage: { months: 25 },
  audit: { months: 25 },
  /** Names of deleted API keys, for rows of usage and audit that contain their ids. */
  deletedKeys: { days: 775 },
  /** The request log of API keys. A key has at most 1,000 requests in it. */
  keyRequests: { days: 7 },
  /** Files that runs generated, unless a user keeps them or a workflow, version or cover refers to them. */
  generatedMedia: { days: 90 },
  uploads: "forever",
  /** Rejections by the moderation hook. Approvals are kept as long as executions. */
  moderation: { months: 25 },
  /** Archives of account data, counted from their creation. */
  accountExports: { days: 1 },
  /** Requests to providers that can't detect repeated requests. */
  submissions: { days: 30 },
  /** Long inputs and plans of runs. */
  payloads: { with: "executions" },
  /** Payloads too large for Temporal, counted from their last write. A run that waits for decisions needs them for 32 days. */
  claimChecks: { days: 60 },
  /** Delivery progress of webhook messages, counted from their acceptance. */
  deliveries: { with: "executions" },
  /** Prevents an email from being sent twice. Its content is deleted when sending ends. */
  mails: { days: 7 },
  ledger: "forever",
  /** Details of started purchases. */
  checkouts: { days: 60 },
  /** Refunds of payments that don't match a purchase of this installation. */
  unclaimedPayments: { days: 60 },
} as const satisfies Record<string, RetentionPeriod>;

/** Range of days that a workflow or a run can set for its runs. */
export const RETENTION_DAYS = { least: 0, most: 3_650 } as const;

/** With 0 days, the time for which a run's status and result stay, because webhooks are retried for that time. */
const EMPTIED_MS = 28 * 60 * 60 * 1_000;

/** The time at which a run or batch is erased completely, for a number of retention days. */
export const erasedAfter = (retentionDays: number, finishedAt: Date): Date =>
  new Date(finishedAt.getTime() + (retentionDays === 0 ? EMPTIED_MS : retentionDays * DAY_MS));

/** @returns the smallest number that is set, or undefined */
export const leastRetention = (...days: readonly (number | undefined)[]): number | undefined => {
  const set = days.filter((one) => one !== undefined);
  return set.length === 0 ? undefined : Math.min(...set);
};

/** The time before which data has expired. */
export const expiresBefore = (period: { days: number } | { months: number }, now: Date): Date => {
  if ("days" in period) return new Date(now.getTime() - period.days * DAY_MS);
  const before = new Date(now);
  const day = before.getUTCDate();
  before.setUTCDate(1);
  before.setUTCMonth(before.getUTCMonth() - period.months);
  const lastDay = new Date(Date.UTC(before.getUTCFullYear(), before.getUTCMonth() + 1, 0)).getUTCDate();
  before.setUTCDate(Math.min(day, lastDay));
  return before;
};
