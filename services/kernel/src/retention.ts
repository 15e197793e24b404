/** How long what is stored is kept. The one table: a daily Temporal schedule enforces it, docs/operations/retention.md explains it. */

const DAY_MS = 24 * 60 * 60 * 1_000;

export type Kept =
  | { days: number }
  /** Calendar months. */
  | { months: number }
  /** As long as what it belongs to. */
  | { with: string }
  | "forever";

export const RETENTION = {
  /** With their events, calls, inputs and results; `RETENTION_EXECUTIONS_DAYS` overrides it. */
  executions: { days: 90 },
  /** Since they ended, with their rows; those that are paused stay. */
  batches: { with: "executions" },
  /** Runs that were refused before they began: for as long they are remembered. */
  refusedRuns: { days: 2 },
  usage: { months: 25 },
  audit: { months: 25 },
  /** Files that runs made, unless they are kept, or named by a workflow, a version or a cover. */
  generatedMedia: { days: 90 },
  uploads: "forever",
  /** What the moderation hook refused; what it let go is kept as long as executions. */
  moderation: { months: 25 },
  /** Archives of what accounts have, since they were made. */
  accountExports: { days: 1 },
  /** What was sent to providers that can't recognise a repeated request. */
  submissions: { days: 30 },
  /** Long inputs and plans of runs. */
  payloads: { with: "executions" },
  /** What is too large for Temporal, since it was last written: a run that waits for decisions needs it for 32 days. */
  claimChecks: { days: 60 },
  /** That a mail was wanted, so that it is sent once; what it says goes when it has ended. */
  mails: { days: 7 },
  ledger: "forever",
  /** What was asked for when a purchase began. */
  checkouts: { days: 60 },
  /** What was paid back of payments by which nothing was bought here. */
  unclaimedPayments: { days: 60 },
} as const satisfies Record<string, Kept>;

/** The moment before which something has been kept long enough. */
export const expiresBefore = (kept: { days: number } | { months: number }, now: Date): Date => {
  if ("days" in kept) return new Date(now.getTime() - kept.days * DAY_MS);
  const before = new Date(now);
  const day = before.getUTCDate();
  before.setUTCDate(1);
  before.setUTCMonth(before.getUTCMonth() - kept.months);
  const lastDay = new Date(Date.UTC(before.getUTCFullYear(), before.getUTCMonth() + 1, 0)).getUTCDate();
  before.setUTCDate(Math.min(day, lastDay));
  return before;
};
