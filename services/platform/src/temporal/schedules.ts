import { ScheduleAlreadyRunning, type Client, type ScheduleOptions, type ScheduleUpdateOptions } from "@temporalio/client";

/** A workflow that Temporal starts at intervals. At most one runs at a time in all processes. Temporal's UI lists it under Schedules. */
export interface PlatformSchedule {
  id: string;
  workflow: string;
  everyMs: number;
  /** Time after a missed start during which Temporal still makes it up. */
  catchUpMs: number;
  note: string;
}

const optionsOf = ({ workflow, everyMs, catchUpMs, note }: PlatformSchedule, taskQueue: string) => ({
  spec: { intervals: [{ every: everyMs }] },
  action: { type: "startWorkflow" as const, workflowType: workflow, taskQueue, workflowExecutionTimeout: everyMs },
  policies: { overlap: "SKIP" as const, catchupWindow: catchUpMs },
  state: { note },
});

/**
 * Creates or updates every schedule so that it matches the code. Schedule ids start with the queue's name. A paused schedule stays paused.
 */
export const ensureSchedules = async (client: Client, taskQueue: string, schedules: readonly PlatformSchedule[]): Promise<void> => {
  await Promise.all(
    schedules.map(async (schedule) => {
      const options = optionsOf(schedule, taskQueue);
      const scheduleId = `${taskQueue}-${schedule.id}`;
      try {
        await client.schedule.create({ scheduleId, ...options } satisfies ScheduleOptions);
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        await client.schedule
          .getHandle(scheduleId)
          .update(({ state }): ScheduleUpdateOptions => ({ ...options, state: { ...state, note: schedule.note } }));
      }
    }),
  );
};
