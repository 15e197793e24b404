/** The activities of the worker, with their reports, which Temporal keeps. */
import { Context } from "@temporalio/activity";
import type { Reconciled } from "./schedules/reconcile";
import type { ScheduledTime } from "./schedules/schedule-store";
import type { Triggers } from "./triggers";

export type ScheduledStart = Pick<ScheduledTime, "outcome" | "executionId" | "code">;

export interface Activities {
  /** Starts the run of a schedule's time, in ISO form; null where the schedule is gone or was changed. Idempotent. */
  startScheduled(scheduleId: string, at: string): Promise<ScheduledStart | null>;
  reconcile(): Promise<Reconciled>;
}

export const createActivities = ({ fire, reconcile }: Pick<Triggers, "fire" | "reconcile">): Activities => ({
  startScheduled: async (scheduleId, at) => {
    const time = await fire(scheduleId, new Date(at));
    return time && { outcome: time.outcome, executionId: time.executionId, code: time.code };
  },
  reconcile: () => reconcile(() => Context.current().heartbeat()),
});
