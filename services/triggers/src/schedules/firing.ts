/** Runs a schedule at one of its times. */
import { DomainError, isRefusal, isShortOfCredits, TRIGGER_BOUNDS, unlessNotFound } from "@nodeloom/kernel";
import { derivedId, type Logger } from "@nodeloom/platform";
import { executions as messages } from "@nodeloom/proto";
import { approvedTarget } from "../approved";
import type { Arrivals } from "../arrivals-store";
import type { Executions } from "../clients";
import type { Owners } from "../owners";
import { TIMING } from "../timing";
import { parseScheduleName, type TemporalSchedules, type ScheduleName } from "./temporal-schedules";
import { isActive, type ScheduledTime, type ScheduleRecord, type ScheduleStore } from "./schedule-store";

/** Errors that every later time would also get, so the schedule stops. */
const STOPPING: ReadonlySet<string> = new Set([
  "ACCOUNT_SUSPENDED",
  "ACCOUNT_NOT_APPROVED",
  "API_KEY_ACCESS_DENIED",
  "CAPABILITY_DENIED",
  "UNAUTHENTICATED",
  "NOT_FOUND",
  "WORKFLOW_NOT_FOUND",
  "ALIAS_NOT_FOUND",
]);

/** Messages for the owner, instead of the messages for callers. */
const WORDS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: "the API key that set it was revoked or has expired, or the access of who set it has ended",
  NOT_FOUND: "the account is gone",
  WORKFLOW_NOT_FOUND: "the workflow is gone",
};

/** Statuses of a run that hasn't ended. */
const UNDER_WAY: readonly string[] = ["queued", "processing", "cancel_requested"];

export interface FiringOptions {
  store: Pick<ScheduleStore, "find" | "note" | "stop">;
  arrivals: Arrivals;
  owners: Owners;
  executions: Pick<Executions, "run" | "getExecution">;
  temporalSchedules: Pick<TemporalSchedules, "end" | "idOf">;
  logger: Logger;
}

/** Builds the request for a schedule's run. Equal times give equal requests. */
const requestOf = (row: ScheduleRecord, at: Date, runner: messages.Runner): messages.RunRequest => {
  const executionId = derivedId("schedule", row._id, at.toISOString());
  return messages.RunRequest.fromPartial({
    executionId,
    target: approvedTarget(row),
    runner,
    inputsJson: row.inputsJson,
    mode: messages.RunMode.RUN_MODE_RESPOND_ASYNC,
    maxMillicredits: row.maxMillicredits ?? undefined,
    // Only the time identifies the request, so a change since the first attempt doesn't start another run.
    fingerprint: executionId,
    requestToken: executionId,
    metadata: { scheduleId: row._id },
  });
};

/** True if a retry can succeed: a service is unavailable, and time is left. An unavailable model sets its own retry time. */
const isTransient = (error: unknown, at: Date): boolean => {
  if (isRefusal(error)) return false;
  const isModelUnavailable = error instanceof DomainError && error.metadata.model !== undefined;
  return !isModelUnavailable && Date.now() < at.getTime() + TIMING.scheduledStart - TIMING.scheduledAttempt;
};

export const createFiring = ({ store, arrivals, owners, executions, temporalSchedules, logger }: FiringOptions) => {
  const note = (row: ScheduleRecord, time: ScheduledTime, unpaid: number): Promise<void> =>
    store.note(row._id, time, { unpaid, lastExecutionId: time.executionId ?? row.lastExecutionId });

  /** Records a rejected time. Stops the schedule if later times would also be rejected. */
  const recordRefusal = async (row: ScheduleRecord, at: Date, { reason, message }: DomainError): Promise<ScheduledTime> => {
    const time: ScheduledTime = { at, outcome: "refused", executionId: null, code: reason, message: WORDS[reason] ?? message };
    const unpaid = isShortOfCredits(reason) ? row.unpaid + 1 : 0;
    const isUnpaid = unpaid >= TRIGGER_BOUNDS.unpaidTimes;
    if (!isUnpaid && !STOPPING.has(reason)) await note(row, time, unpaid);
    else {
      const why = isUnpaid ? `the credits did not suffice ${unpaid} times in a row: ${message}` : time.message!;
      await store.stop(row, time, { code: reason, message: why, at: new Date() });
      await temporalSchedules.end(temporalSchedules.idOf(row));
      logger.info({ scheduleId: row._id, code: reason }, "a schedule has stopped");
    }
    return time;
  };

  const isUnderWay = async (executionId: string, userId: string): Promise<boolean> => {
    const last = await unlessNotFound(executions.getExecution({ executionId, userId }));
    return UNDER_WAY.includes(last?.execution?.status ?? "");
  };

  const start = async (row: ScheduleRecord, at: Date): Promise<ScheduledTime> => {
    const runner = await owners.runner(row, row.workflowSlug);
    const request = requestOf(row, at, runner);
    const { executionId } = request;
    const { lastExecutionId } = row;
    const time = { at, executionId, code: null, message: null };
    if (lastExecutionId !== null && lastExecutionId !== executionId && (await isUnderWay(lastExecutionId, row.userId))) {
      const skipped: ScheduledTime = { ...time, outcome: "skipped", executionId: null, message: "the run before was still under way" };
      await note(row, skipped, row.unpaid);
      return skipped;
    }
    await executions.run(request, { deadlineMs: TIMING.scheduledAttempt });
    const started: ScheduledTime = { ...time, outcome: "started" };
    await note(row, started, 0);
    return started;
  };

  /** True if the time belongs to this revision. Earlier times belong to Temporal's earlier schedule. */
  const isServed = (row: ScheduleRecord, { revision }: ScheduleName, at: Date): boolean =>
    isActive(row) && (row.revision === revision || (revision < row.revision && at <= row.timedAt));

  /**
   * Runs a time of a schedule once, even if called repeatedly.
   * @param scheduleId id in Temporal
   * @returns null if the schedule was deleted, paused, stopped or replaced
   * @throws errors that Temporal retries
   */
  return async (scheduleId: string, at: Date): Promise<ScheduledTime | null> => {
    const name = parseScheduleName(scheduleId);
    if (!name) return null;
    const row = await arrivals.find({ id: name.id }, () => store.find(name.id));
    if (!row || row.revision !== name.revision) await temporalSchedules.end(scheduleId);
    if (!row || !isServed(row, name, at)) return null;
    const recorded = row.history.find((time) => time.at.getTime() === at.getTime());
    if (recorded) return recorded;
    try {
      return await start(row, at);
    } catch (error) {
      if (!(error instanceof DomainError) || isTransient(error, at)) throw error;
      return recordRefusal(row, at, error);
    }
  };
};
