/** Types that workflows and activities exchange. Temporal stores them, so their shape must stay compatible. */

/** Result of starting a schedule's run at one of its times. */
export interface ScheduledStart {
  outcome: "started" | "skipped" | "refused";
  executionId: string | null;
  code: string | null;
}

/** Schedules whose start or end in Temporal failed. The next reconciliation retries them. */
export interface ReconcileReport {
  changed: number;
  failed: number;
}

export interface Activities {
  /** Starts the run of a schedule for a time in ISO form. Returns null if the schedule was deleted or changed. Idempotent. */
  startScheduled(scheduleId: string, at: string): Promise<ScheduledStart | null>;
  reconcile(): Promise<ReconcileReport>;
}
