import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";
import { ApplicationFailure, proxyActivities, workflowInfo } from "@temporalio/workflow";
import type { Activities, ReconcileReport, ScheduledStart } from "../activity-types";
import { TIMING } from "../timing";

/** Temporal sets these attributes on the workflows of a schedule: the schedule's id, and the start time. */
const SCHEDULED_BY = defineSearchAttributeKey("TemporalScheduledById", SearchAttributeType.KEYWORD);
const SCHEDULED_AT = defineSearchAttributeKey("TemporalScheduledStartTime", SearchAttributeType.DATETIME);

const { startScheduled } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.scheduledAttempt,
  scheduleToCloseTimeout: TIMING.scheduledStart,
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});
const { reconcile } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.reconcile,
  heartbeatTimeout: TIMING.heartbeat,
  retry: { maximumAttempts: 3 },
});

/** Starts the run of a user's schedule at one of its times. */
export async function startScheduledRun(): Promise<ScheduledStart | null> {
  const { typedSearchAttributes } = workflowInfo();
  const [scheduleId, at] = [typedSearchAttributes.get(SCHEDULED_BY), typedSearchAttributes.get(SCHEDULED_AT)];
  if (scheduleId === undefined || at === undefined) throw ApplicationFailure.nonRetryable("is started by a schedule alone");
  return startScheduled(scheduleId, at.toISOString());
}

/** Makes schedules in Temporal match the rows. A platform schedule starts it. */
export async function reconcileSchedules(): Promise<ReconcileReport> {
  return reconcile();
}
