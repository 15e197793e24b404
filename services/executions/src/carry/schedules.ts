/** Temporal's schedules of users: they carry what rows say, and can be made again from them. */
import { type CalendarSpec, type Client, DAYS_OF_WEEK, MONTHS, ScheduleAlreadyRunning, ScheduleNotFoundError } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { TIMING } from "../run/timing";
import { USER, WORKFLOW } from "./names";
import type { startScheduledRun } from "./workflows";

/** Times that match where all of these do; what is left out always does. */
export interface Calendar {
  minutes: number[];
  hours: number[];
  /** 1 is January. */
  months: number[];
  daysOfMonth?: number[];
  /** 0 is Sunday. */
  daysOfWeek?: number[];
}

/** Which row a schedule of Temporal's was made from, as it was at a revision. */
export interface ScheduleName {
  id: string;
  revision: number;
}

export interface CarriedSchedule extends ScheduleName {
  userId: string;
  workflowSlug: string;
  calendars: readonly Calendar[];
  timezone: string;
}

const START: keyof { startScheduledRun: typeof startScheduledRun } = "startScheduledRun";
const NAME = /-schedule-([0-9a-f-]{36})-(\d+)$/;

/** @returns undefined for schedules of others, and for the platform's own */
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

export type ScheduleCarrier = ReturnType<typeof createScheduleCarrier>;

/** Schedules of users on the queue on which runs are started. Each revision of a row has one of its own, so that none is ever changed. */
export const createScheduleCarrier = ({ client, taskQueue }: { client: Client; taskQueue: string }) => {
  const nameOf = ({ id, revision }: ScheduleName): string => `${taskQueue}-schedule-${id}-${revision}`;
  const soon = <T>(work: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + TIMING.startCall, work);
  return {
    nameOf,

    /** Begins to carry a revision, unless it is carried. */
    begin: async (schedule: CarriedSchedule): Promise<void> => {
      const { id, userId, workflowSlug, calendars, timezone } = schedule;
      try {
        await soon(() =>
          client.schedule.create({
            scheduleId: nameOf(schedule),
            spec: { calendars: calendars.map(specOf), timezone },
            // Without arguments: they would need the key that encrypts payloads now for as long as the schedule lives.
            action: {
              type: "startWorkflow",
              workflowType: START,
              workflowId: `schedule-${id}`,
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

    /** Stops carrying a revision, if it is carried. */
    end: async (name: ScheduleName): Promise<void> => {
      try {
        await soon(() => client.schedule.getHandle(nameOf(name)).delete());
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      }
    },

    /** What is carried; it may be some seconds old. */
    names: async function* (): AsyncIterable<ScheduleName> {
      const prefix = `${taskQueue}-schedule-`;
      for await (const { scheduleId } of client.schedule.list()) {
        const name = scheduleId.startsWith(prefix) ? parseScheduleName(scheduleId) : undefined;
        if (name) yield name;
      }
    },
  };
};
