/** Checks cron expressions and converts them to calendars for Temporal. A library parses the expressions. */
import { TRIGGER_BOUNDS, type Issue } from "@nodeloom/kernel";
import { CronExpressionParser, type CronExpression } from "cron-parser";

/** Matches a time if all fields match it. An absent field matches every time. */
export interface Calendar {
  minutes: number[];
  hours: number[];
  /** Months of the year; 1 is January. */
  months: number[];
  daysOfMonth?: number[];
  /** Days of the week; 0 is Sunday. */
  daysOfWeek?: number[];
}

/** An expression has five fields, so the shortest interval is a minute. Temporal doesn't support other cron extensions. */
const FIELDS = 5;
const NAMED = /^@(?:hourly|daily|weekly|monthly|yearly|annually)$/;
const FIELD = /^(?:[\d*,/-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)+$/i;
/** Newer JavaScript engines accept offsets as time zones, but Temporal doesn't. */
const NAMED_ZONE = /^[a-z]/i;
const DAYS_OF_WEEK = 7;
/** Prefix of the library's messages. */
const CONSTRAINT = /^Constraint error, /;
/** The library's message for days such as February 30. */
const NO_SUCH_DAY = /day of month definition/;

const isCron = (text: string): boolean =>
  NAMED.test(text) || (text.split(/\s+/).length === FIELDS && text.split(/\s+/).every((field) => FIELD.test(field)));

/** Returns the name of a zone that every tz database has; undefined for an unknown zone. */
export const zoneOf = (timezone: string): string | undefined => {
  if (!NAMED_ZONE.test(timezone)) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

/** Describes an unknown zone. A city alone, such as Berlin, is a frequent mistake. */
const zoneProblem = (timezone: string): string => {
  const city = `/${timezone.trim().replaceAll(" ", "_").toLowerCase()}`;
  const zone = Intl.supportedValuesOf("timeZone").find((one) => one.toLowerCase().endsWith(city));
  return `isn't a time zone such as Europe/Berlin or UTC${zone === undefined ? "" : `: did you mean ${zone}?`}`;
};

const parse = (cron: string, timezone: string, from?: Date): CronExpression =>
  CronExpressionParser.parse(cron.trim(), { tz: zoneOf(timezone) ?? "UTC", ...(from ? { currentDate: from } : {}) });

/** Returns the problems of a schedule's times. */
export const timeIssues = ({ cron, timezone }: { cron: string; timezone: string }): Issue[] => {
  const zoneIssues = zoneOf(timezone) === undefined ? [{ path: "timezone", message: zoneProblem(timezone) }] : [];
  if (!isCron(cron.trim()))
    return [
      ...zoneIssues,
      {
        path: "cron",
        message: "must be five fields (minute, hour, day of month, month, day of week), as 0 9 * * 1-5, or a name such as @daily",
      },
    ];
  try {
    if (nextTimes({ cron, timezone }, 1).length === 1) return zoneIssues;
    return [...zoneIssues, { path: "cron", message: "never comes" }];
  } catch (error) {
    const { message } = error as Error;
    if (NO_SUCH_DAY.test(message)) return [...zoneIssues, { path: "cron", message: "never comes: its months don't have this day" }];
    return [...zoneIssues, { path: "cron", message: `can't be read: ${message.replace(CONSTRAINT, "")}` }];
  }
};

/**
 * Returns the next times of a schedule, without times in the hour that a clock change skips.
 * @param from start time; default: now
 */
export const nextTimes = (
  { cron, timezone }: { cron: string; timezone: string },
  count: number = TRIGGER_BOUNDS.nextTimes,
  from?: Date,
): Date[] => {
  const expression = parse(cron, timezone, from);
  const hours: readonly number[] = expression.fields.hour.values;
  const times: Date[] = [];
  // A clock change can skip at most one of the times.
  for (const time of expression.take(count + 1)) if (hours.includes(time.getHours()) && times.length < count) times.push(time.toDate());
  return times;
};

/** Returns a field of days as numbers. */
const days = (values: readonly (number | string)[]): number[] => [...new Set(values.map((day) => Number(day) % DAYS_OF_WEEK))];

export const calendarsOf = (cron: string): Calendar[] => {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(cron, "UTC").fields;
  const times = { minutes: [...minute.values], hours: [...hour.values], months: [...month.values] };
  const ofMonth = { daysOfMonth: dayOfMonth.values.map(Number) };
  const ofWeek = { daysOfWeek: days(dayOfWeek.values) };
  // If both fields are set, a time must match at least one of them.
  if (!dayOfMonth.isWildcard && !dayOfWeek.isWildcard)
    return [
      { ...times, ...ofMonth },
      { ...times, ...ofWeek },
    ];
  return [{ ...times, ...(dayOfMonth.isWildcard ? {} : ofMonth), ...(dayOfWeek.isWildcard ? {} : ofWeek) }];
};
