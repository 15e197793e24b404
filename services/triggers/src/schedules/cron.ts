/** Times of schedules: cron expressions, parsed by a library, as calendars for Temporal. */
import { TRIGGER_BOUNDS, type Issue } from "@nodeloom/kernel";
import { CronExpressionParser, type CronExpression } from "cron-parser";

/** Matches times where all fields match. An absent field matches always. */
export interface Calendar {
  minutes: number[];
  hours: number[];
  /** 1 is January. */
  months: number[];
  daysOfMonth?: number[];
  /** 0 is Sunday. */
  daysOfWeek?: number[];
}

/** Five fields, so the shortest interval is a minute. Temporal doesn't support other cron extensions. */
const FIELDS = 5;
const NAMED = /^@(?:hourly|daily|weekly|monthly|yearly|annually)$/;
const FIELD = /^(?:[\d*,/-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)+$/i;
/** Newer engines accept offsets as time zones. Temporal doesn't. */
const NAMED_ZONE = /^[a-z]/i;
const DAYS_OF_WEEK = 7;
/** Prefix of the library's messages. */
const CONSTRAINT = /^Constraint error, /;

const isCron = (text: string): boolean =>
  NAMED.test(text) || (text.split(/\s+/).length === FIELDS && text.split(/\s+/).every((field) => FIELD.test(field)));

/** The zone's name in every tz database; undefined for an unknown zone. */
export const zoneOf = (timezone: string): string | undefined => {
  if (!NAMED_ZONE.test(timezone)) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

const parse = (cron: string, timezone: string, from?: Date): CronExpression =>
  CronExpressionParser.parse(cron.trim(), { tz: zoneOf(timezone) ?? "UTC", ...(from ? { currentDate: from } : {}) });

/** Problems of a schedule's times, or none. */
export const timeIssues = ({ cron, timezone }: { cron: string; timezone: string }): Issue[] => {
  const zoneIssues =
    zoneOf(timezone) === undefined ? [{ path: "timezone", message: "isn't a time zone such as Europe/Berlin or UTC" }] : [];
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
    return [...zoneIssues, { path: "cron", message: `can't be read: ${message.replace(CONSTRAINT, "")}` }];
  }
};

/**
 * The next times of a schedule, without those in the hour that clocks skip.
 * @param from default: now
 */
export const nextTimes = (
  { cron, timezone }: { cron: string; timezone: string },
  count: number = TRIGGER_BOUNDS.nextTimes,
  from?: Date,
): Date[] => {
  const expression = parse(cron, timezone, from);
  const hours: readonly number[] = expression.fields.hour.values;
  const times: Date[] = [];
  // Clock changes can skip at most one of them.
  for (const time of expression.take(count + 1)) if (hours.includes(time.getHours()) && times.length < count) times.push(time.toDate());
  return times;
};

/** A field of days as numbers. */
const days = (values: readonly (number | string)[]): number[] => [...new Set(values.map((day) => Number(day) % DAYS_OF_WEEK))];

export const calendarsOf = (cron: string): Calendar[] => {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(cron, "UTC").fields;
  const times = { minutes: [...minute.values], hours: [...hour.values], months: [...month.values] };
  const ofMonth = { daysOfMonth: dayOfMonth.values.map(Number) };
  const ofWeek = { daysOfWeek: days(dayOfWeek.values) };
  // If both are set, one of them has to match.
  if (!dayOfMonth.isWildcard && !dayOfWeek.isWildcard)
    return [
      { ...times, ...ofMonth },
      { ...times, ...ofWeek },
    ];
  return [{ ...times, ...(dayOfMonth.isWildcard ? {} : ofMonth), ...(dayOfWeek.isWildcard ? {} : ofWeek) }];
};
