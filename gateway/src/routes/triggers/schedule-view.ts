import { toCredits, TRIGGER_BOUNDS } from "@nodeloom/kernel";
import type { triggers } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { anyObject, iso, MAX_CREDITS, slug, timestamp, uuid } from "../../http/schemas";
import { execution } from "../executions/view";
import { runWebhook } from "../runs/webhook";
import { pendingChange } from "../workflows/schemas";
import { alias, madeBy } from "./trigger";

/** Capability without which a schedule is shown without its runs. */
export const READ_RUNS = "execution:read";

const cron = z.string().min(1).max(TRIGGER_BOUNDS.cronChars).meta({
  description: "Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`",
  example: "0 9 * * 1-5",
});
const timezone = z
  .string()
  .min(1)
  .max(TRIGGER_BOUNDS.timezoneChars)
  .meta({ description: "IANA name. Default: UTC", example: "Europe/Berlin" });
const inputs = anyObject.meta({ description: "Inputs of every run. Name files by id or address" });
const maxCredits = z
  .number()
  .min(0)
  .max(MAX_CREDITS)
  .nullable()
  .meta({ description: "Maximum cost of each run in credits. Null: limited only by the balance" });

const why = { code: z.string().meta({ description: "Code of an API error" }), message: z.string() };
const time = z
  .object({
    at: timestamp.meta({ description: "The scheduled time" }),
    outcome: z.enum(["started", "skipped", "refused"]).meta({ description: "`skipped`: the previous run was still active" }),
    executionId: uuid.nullable(),
    error: z.object(why).nullable(),
  })
  .meta({ id: "ScheduledTime" });
export const schedule = z
  .object({
    id: uuid,
    workflowSlug: slug,
    alias: alias.nullable(),
    cron,
    timezone,
    inputs,
    maxCredits,
    webhook: runWebhook.nullable().meta({ description: "Null: the key's webhook" }),
    paused: z.boolean(),
    stopped: z
      .object({ ...why, at: timestamp.nullable() })
      .nullable()
      .meta({ description: "Reason for an automatic stop. `paused: false` restarts it" }),
    keyId: z.string().nullable().meta({ description: "Key that last changed it, and with which it stops; null for a session" }),
    madeBy,
    pendingChange,
    nextRuns: z.array(timestamp).meta({ description: "Next times. Empty while it is paused or stopped" }),
    history: z.array(time).meta({ description: "Recent times and their outcomes, newest first" }),
    createdAt: timestamp.nullable(),
    updatedAt: timestamp.nullable(),
  })
  .meta({ id: "Schedule" });
export const withRuns = schedule
  .extend({ executions: z.array(execution).meta({ description: `Its last runs, newest first. Empty without \`${READ_RUNS}\`` }) })
  .meta({ id: "ScheduleWithRuns" });

export const creation = z
  .strictObject({
    cron,
    timezone: timezone.optional(),
    inputs: inputs.optional(),
    alias: alias.nullish(),
    maxCredits: maxCredits.optional(),
    webhook: runWebhook
      .nullish()
      .meta({ description: "Receives the messages of its runs, as for a run. Null or absent: the key's webhook" }),
    paused: z.boolean().optional(),
  })
  .meta({ id: "NewSchedule" });
export const change = creation
  .partial()
  .refine((changes) => Object.keys(changes).length > 0, "give at least one of cron, timezone, inputs, alias, maxCredits, webhook, paused")
  .meta({ id: "ScheduleChange", override: { minProperties: 1 } });

const timeView = ({ at, outcome, executionId, code, message }: triggers.ScheduledTime): Record<string, unknown> => ({
  at: iso(at),
  outcome,
  executionId: executionId || null,
  error: code ? { code, message } : null,
});

export const scheduleView = (scheduleMessage: triggers.Schedule | undefined) => {
  if (!scheduleMessage) throw new Error("triggers answered without a schedule");
  const {
    id,
    workflowSlug,
    cron: times,
    timezone: zone,
    inputsJson,
    maxMillicredits,
    paused,
    keyId,
    nextTimes,
    history,
    webhook,
  } = scheduleMessage;
  const { stoppedCode: code, stoppedMessage: message, stoppedAt } = scheduleMessage;
  return {
    ...{ id, workflowSlug, cron: times, timezone: zone, inputs: raw(inputsJson, "{}") },
    alias: scheduleMessage.alias || null,
    maxCredits: maxMillicredits === undefined ? null : toCredits(maxMillicredits),
    webhook: webhook ? { url: webhook.url, ...(webhook.events.length === 0 ? {} : { events: webhook.events }) } : null,
    paused,
    stopped: code ? { code, message, at: iso(stoppedAt) } : null,
    keyId: keyId || null,
    madeBy: scheduleMessage.madeBy || null,
    nextRuns: nextTimes.map(iso),
    history: history.map(timeView),
    createdAt: iso(scheduleMessage.createdAt),
    updatedAt: iso(scheduleMessage.updatedAt),
  };
};
