/** Schedules in Temporal. They are created from rows and can always be recreated. */
import { type CalendarSpec, type Client, DAYS_OF_WEEK, MONTHS, ScheduleAlreadyRunning, ScheduleNotFoundError } from "@temporalio/client";
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from "@temporalio/common";
import { TIMING } from "../timing";
import type { startScheduledRun } from "../workflows";
import { calendarsOf, zoneOf, type Calendar } from "./cron";
import type { ScheduleRecord } from "./schedule-store";

const USER = defineSearchAttributeKey("NodeloomUser", SearchAttributeType.KEYWORD);
const WORKFLOW = defineSearchAttributeKey("NodeloomWorkflow", SearchAttributeType.KEYWORD);

/** The row and revision of a schedule in Temporal. */
export interface ScheduleName {
  id: string;
  revision: number;
}

type CarriedSchedule = Pick<ScheduleRecord, "_id" | "revision" | "userId" | "workflowSlug" | "cron" | "timezone">;

const START: keyof { startScheduledRun: typeof startScheduledRun } = "startScheduledRun";
const NAME = /-schedule-([0-9a-f-]{36})-(\d+)$/;

/** @returns undefined for schedules of other queues, and for the platform's own schedules */
export const parseScheduleName = (scheduleId: string): ScheduleName | undefined => {
  const [, id, revision] = NAME.exec(scheduleId) ?? [];
  return id === undefined ? undefined : { id, revision: Number(revision) };
};

const specOf = ({ minutes, hours, months, daysOfMonth, daysOfWeek }: Calendar): CalendarSpec => ({
  minute: minutes,
  hour: hours,
  month: months.map((month) => MONTHS[month - 1]!),
  ...(daysOfMonth ? { dayOfMonth: daysOfMonth } : {}),
  ...(daysOfWeek ? { dayOfWeek: daysOfWeek.map((day) => DAYS_OF_WEEK[day]!) } : {}),
});

export type TemporalSchedules = ReturnType<typeof createTemporalSchedules>;

export interface TemporalSchedulesOptions {
  client: Client;
  taskQueue: string;
  /** Queue of executions, which ran the schedules of version 1.0.0. */
  earlierQueue: string;
}

/** Each revision of a row has its own schedule, so schedules never change. */
export const createTemporalSchedules = ({ client, taskQueue, earlierQueue }: TemporalSchedulesOptions) => {
  const idOf = ({ _id, revision }: Pick<CarriedSchedule, "_id" | "revision">): string => `${taskQueue}-schedule-${_id}-${revision}`;
  const prefixes = [taskQueue, earlierQueue].map((queue) => `${queue}-schedule-`);
  const soon = <T>(work: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + TIMING.temporalCall, work);
  return {
    /** Returns the id of a row's schedule in Temporal. */
    idOf,

    /** Creates the schedule of a revision, unless it exists. */
    begin: async (row: CarriedSchedule): Promise<void> => {
      const { _id, userId, workflowSlug, cron, timezone } = row;
      try {
        await soon(() =>
          client.schedule.create({
            scheduleId: idOf(row),
            spec: { calendars: calendarsOf(cron).map(specOf), timezone: zoneOf(timezone) ?? timezone },
            action: {
              type: "startWorkflow",
              workflowType: START,
              workflowId: `schedule-${_id}`,
              taskQueue,
              args: [],
              workflowExecutionTimeout: TIMING.scheduledStart,
              typedSearchAttributes: new TypedSearchAttributes([
                { key: USER, value: userId },
                { key: WORKFLOW, value: workflowSlug },
              ]),
            },
            policies: { overlap: "SKIP", catchupWindow: TIMING.scheduleCatchUp },
          }),
        );
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      }
    },

    /**
     * Deletes the schedule of a revision, if it exists.
     * @param scheduleId its id in Temporal
     */
    end: async (scheduleId: string): Promise<void> => {
      try {
        await soon(() => client.schedule.getHandle(scheduleId).delete());
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      }
    },

    /** Lists schedules in Temporal by id. The list can be some seconds old. */
    runningSchedules: async function* (): AsyncIterable<ScheduleName & { scheduleId: string; isEarlier: boolean }> {
      for await (const { scheduleId } of client.schedule.list()) {
        const name = prefixes.some((prefix) => scheduleId.startsWith(prefix)) ? parseScheduleName(scheduleId) : undefined;
        if (name) yield { ...name, scheduleId, isEarlier: !scheduleId.startsWith(prefixes[0]!) };
      }
    },
  };
};
