/** Types that workflows and activities exchange. Temporal stores them, so their shape must stay compatible. */

/** The start of a schedule's run at one of its times. */
export interface ScheduledStart {
  outcome: "started" | "skipped" | "refused";
  executionId: string | null;
  code: string | null;
}

/** How many schedules were begun or ended, and could not be: the next comparison tries those again. */
export interface Reconciled {
  changed: number;
  failed: number;
}

export interface Activities {
  /** Starts the run of a schedule's time, in ISO form; null where the schedule is gone or was changed. Idempotent. */
  startScheduled(scheduleId: string, at: string): Promise<ScheduledStart | null>;
  reconcile(): Promise<Reconciled>;
}
