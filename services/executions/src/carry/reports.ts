/** What looks that Temporal schedules make find and do: it keeps their reports. */

/** How many were looked at, were put right, and could not be: the next look tries those again. */
export interface Looked {
  seen: number;
  changed: number;
  failed: number;
}

/** What nothing carries any more: runs, which are ended; webhooks, which are delivered again; holds, which are closed. */
export type ReconcileReport = Record<"runs" | "deliveries" | "holds", Looked>;

/** How much each owner has removed because it was kept long enough, by kind. */
export type RetentionReport = Record<string, Record<string, number>>;

/** A check of every account against all of its rows. */
export interface LedgerReport {
  accounts: number;
  /** What accounts and their rows disagree about. Each is an error in the log. */
  mismatches: number;
  /** Holds that are older than any run may become. */
  staleHolds: number;
}
