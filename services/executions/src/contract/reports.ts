/** What looks that Temporal schedules make find and do: it keeps their reports. */

export interface ReconcileReport {
  /** Runs that Temporal was asked for. */
  asked: number;
  /** Runs that nothing carried any more, and that were ended here. */
  ended: number;
  /** Runs that could not be looked at or ended; the next look tries again. */
  failed: number;
}

export interface DeliveriesReport {
  /** Deliveries that were late, so that Temporal was asked for them. */
  late: number;
  /** Those that nothing carried any more, and that were begun again. */
  redelivered: number;
  /** Those that could not be looked at or begun. */
  stuck: number;
}

/** What was removed because it was kept long enough. */
export interface RetentionReport {
  executions: number;
  refusedRuns: number;
  submissions: number;
  payloads: number;
  media: number;
  usage: number;
  audit: number;
  /** Of past years, written for the ledger, which is kept for ever. */
  checkpoints: number;
  /** Removals that a crash had cut short. */
  finished: number;
}

/** A check of every account against all of its rows. */
export interface LedgerReport {
  accounts: number;
  /** What accounts and their rows disagree about. Each is an error in the log. */
  mismatches: number;
  /** Holds that are older than any run may become. */
  staleHolds: number;
}

export interface LeaksReport {
  /** Holds that were closed because no run needs them. */
  closedHolds: number;
  /** Those that could not be looked at or closed; a later look tries again. */
  failedHolds: number;
}
