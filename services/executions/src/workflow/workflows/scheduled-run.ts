import { ApplicationFailure, workflowInfo } from "@temporalio/workflow";
import type { ScheduledStart } from "../activity-types";
import { SCHEDULED_AT, SCHEDULED_BY } from "../names";
import { startScheduled } from "./steps";

/** Starts a scheduled run. Temporal's schedule provides id and time. */
export async function startScheduledRun(): Promise<ScheduledStart | null> {
  const { typedSearchAttributes } = workflowInfo();
  const [scheduleId, at] = [typedSearchAttributes.get(SCHEDULED_BY), typedSearchAttributes.get(SCHEDULED_AT)];
  if (scheduleId === undefined || at === undefined) throw ApplicationFailure.nonRetryable("is started by a schedule alone");
  return startScheduled(scheduleId, at.toISOString());
}
