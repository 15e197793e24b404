import type { CarriedSchedule } from "../../carry/schedules";
import type { ScheduleRecord } from "../../store/triggers/schedule-store";
import { calendarsOf, zoneOf } from "./cron";

/** What Temporal is to carry of a row. */
export const carriedOf = ({ _id: id, revision, userId, workflowSlug, cron, timezone }: ScheduleRecord): CarriedSchedule => ({
  ...{ id, revision, userId, workflowSlug },
  calendars: calendarsOf(cron),
  timezone: zoneOf(timezone) ?? timezone,
});
