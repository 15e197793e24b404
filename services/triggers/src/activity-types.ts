/** What the workflows ask of the worker; Temporal keeps these forms. */
import type { ScheduledTime } from "./schedules/schedule-store";

export type ScheduledStart = Pick<ScheduledTime, "outcome" | "executionId" | "code">;

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
