import { covers, creditLimit, ENTERPRISE_CAPS, toCredits, TRIGGER_BOUNDS, unlessNotFound, USUAL_CAPS } from "@nodeloom/kernel";
import { executions as messages, type triggers } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import { notFound } from "../../http/errors";
import { raw } from "../../http/json";
import { SCHEDULE_MS } from "../../http/limits";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute, type CallContext } from "../../edge/route";
import {
  aliasName,
  anyObject,
  iso,
  listQuery,
  MAX_CREDITS,
  slug,
  timestamp,
  uuid,
  workflowParams,
  type ParamsSpec,
} from "../../http/schemas";
import { execution, executionView } from "../executions/view";
import { specific } from "../runs/schemas";
import { checkWebhook, runWebhook } from "../runs/webhook";
import { selectedGraph } from "../workflows/selection";
import { pendingChange } from "../workflows/schemas";
import { listedOf } from "../workflows/readable";
import { jsonBody } from "../../http/body/kinds";

/** Schedules of workflows. */

const READ_RUNS = "execution:read";
/** Latest runs shown with a schedule. */
const SHOWN_RUNS = 10;

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
export const alias = aliasName.meta({
  description: "The alias of the workflow that its runs use; null or absent: `production`",
  example: "staging",
});
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
export const madeBy = z
  .string()
  .nullable()
  .meta({ description: "The person who created it or last changed its target. It stops if they lose access. Null if unknown" });
const schedule = z
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
const withRuns = schedule
  .extend({ executions: z.array(execution).meta({ description: `Its last runs, newest first. Empty without \`${READ_RUNS}\`` }) })
  .meta({ id: "ScheduleWithRuns" });

const creation = z
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
const change = creation
  .partial()
  .refine((changes) => Object.keys(changes).length > 0, "give at least one of cron, timezone, inputs, alias, maxCredits, webhook, paused")
  .meta({ id: "ScheduleChange", override: { minProperties: 1 } });

const scheduleParams: ParamsSpec<{ slug: string; id: string }> = {
  schema: z.object({ slug, id: uuid }),
  invalid: () => notFound("schedule"),
};

export const triggerOwner = ({ user, person, key }: Caller): triggers.TriggerOwner => ({
  userId: user.id,
  keyId: key?.id ?? "",
  personId: person.id,
});

/** Alias for a schedule or a hook: the named one, or else the key's; empty for `production`. */
export const aliasFor = (caller: Caller, wantedAlias: string | null | undefined): string =>
  selectedGraph(caller, { alias: wantedAlias ?? "" }).alias;

/** A pause doesn't change the alias. Every other change by a key with an alias sets that alias. */
const changedAlias = (caller: Caller, body: z.infer<typeof change>): string | undefined => {
  const isPause = body.paused === true && Object.keys(body).length === 1;
  return body.alias === undefined && (isPause || !caller.key?.alias) ? undefined : aliasFor(caller, body.alias);
};

/** Undefined removes the limit. */
const limitOf = (credits: number | null | undefined): number | undefined =>
  credits === null || credits === undefined ? undefined : creditLimit(credits);

/** Checks the webhook of a schedule or hook; undefined if none is named. */
const webhookOf = async (
  { gateway, caller }: Pick<CallContext<"any">, "gateway" | "caller">,
  webhook: z.infer<typeof change>["webhook"],
): Promise<triggers.RunWebhook | undefined> => {
  if (webhook) await checkWebhook(gateway, caller, webhook);
  return webhook === undefined ? undefined : { url: webhook?.url ?? "", events: webhook?.events ?? [] };
};

const timeView = ({ at, outcome, executionId, code, message }: triggers.ScheduledTime): Record<string, unknown> => ({
  at: iso(at),
  outcome,
  executionId: executionId || null,
  error: code ? { code, message } : null,
});

const view = (scheduleMessage: triggers.Schedule | undefined): Record<string, unknown> => {
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

type OfWorkflow = Pick<CallContext<"any", { slug: string }>, "gateway" | "caller" | "params">;

/** Adds whether a change of the graph is pending. */
export const withPending = async <T extends object>({ gateway, caller, params }: OfWorkflow, views: T[]) => {
  const schemaRequest = { slug: params.slug, userId: caller.user.id, version: "" };
  const schema = views.length === 0 ? undefined : await unlessNotFound(gateway.services.workflows.getSchema(schemaRequest));
  return views.map((one) => ({ ...one, pendingChange: schema?.pendingChange ?? false }));
};

const shared = { tag: "Schedules and hooks", auth: "any", limit: "user" } as const;
const reading = { ...shared, capability: "workflow:read", role: "viewer" } as const;
const WRITES = { anyOf: ["workflow:write", "schedules:write"] };
const removing = { ...shared, capability: WRITES, role: "editor" } as const;
/** Settings shared by routes that create runs for later in the caller's name. */
const scheduling = { ...removing, capability: [WRITES, specific("workflow", "slug")], approval: true } as const;
export const settingUp = { ...scheduling, capability: ["workflow:write", specific("workflow", "slug")] } as const;
const RUN_ERRORS = [
  "INVALID_INPUTS",
  "WORKFLOW_INVALID",
  "MODEL_TIER_REQUIRED",
  "MODEL_NOT_FOUND",
  "WORKFLOW_NOT_FOUND",
  "ALIAS_NOT_FOUND",
] as const;

/** A change as the audit log has it. Inputs can hold a customer's data, so the log names them without values. */
const auditedBody = ({ inputs: values, ...body }: z.infer<typeof change>): object => ({
  ...body,
  ...(values === undefined ? {} : { inputs: Object.keys(values) }),
});

const whichOf = (caller: Caller, params: { slug: string; id: string }) => ({
  userId: caller.user.id,
  workflowSlug: params.slug,
  id: params.id,
});

export const scheduleRoutes = [
  defineRoute({
    ...reading,
    method: "GET",
    path: "/api/workflows/:slug/schedules",
    operationId: "listSchedules",
    query: listQuery(),
    summary: "List the caller's schedules of a workflow, oldest first",
    params: workflowParams,
    responses: { 200: z.array(schedule) },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const { schedules } = await gateway.services.triggers.listSchedules({ userId: caller.user.id, workflowSlug: params.slug });
      return { status: 200, body: await withPending(context, (await listedOf(context, params.slug, schedules)).map(view)) };
    },
  }),
  defineRoute({
    ...scheduling,
    method: "POST",
    path: "/api/workflows/:slug/schedules",
    operationId: "createSchedule",
    summary: "Create a schedule",
    description: `From Pro up; at most ${USUAL_CAPS.schedules} per account (Enterprise: ${ENTERPRISE_CAPS.schedules}). Each time starts one run, unless the previous one is still active. The schedule stops if its key is revoked, the account can't run the workflow, the workflow is deleted, or credits were insufficient ${TRIGGER_BOUNDS.unpaidTimes} times in a row.`,
    idempotent: "replay",
    params: workflowParams,
    body: jsonBody(creation),
    headers: ["Location"],
    responses: { 201: schedule },
    errors: [...RUN_ERRORS, "PRECONDITION_FAILED"],
    example: { cron: "0 9 * * 1-5", timezone: "Europe/Berlin", inputs: { prompt: "A lighthouse at dusk" }, maxCredits: 20 },
    handler: async (context) => {
      const { gateway, caller, params, body, members } = context;
      const scheduleRequest = {
        owner: triggerOwner(caller),
        workflowSlug: params.slug,
        cron: body.cron,
        timezone: body.timezone ?? "UTC",
        inputsJson: members().get("inputs") ?? "{}",
        alias: aliasFor(caller, body.alias),
        maxMillicredits: limitOf(body.maxCredits),
        webhook: await webhookOf(context, body.webhook),
        paused: body.paused ?? false,
        maxSchedules: caller.user.plan.caps.schedules,
      };
      const action = { action: "schedule.create", target: params.slug, change: auditedBody(body) };
      const newSchedule = await auditedForOwner(context, action, async () => {
        const { schedule: value } = await gateway.services.triggers.createSchedule(scheduleRequest, { deadlineMs: SCHEDULE_MS });
        return { value, after: { id: value?.id } };
      });
      const [scheduleView] = await withPending(context, [view(newSchedule)]);
      return { status: 201, body: scheduleView, headers: { Location: `/api/workflows/${params.slug}/schedules/${newSchedule?.id}` } };
    },
  }),
  defineRoute({
    ...reading,
    method: "GET",
    path: "/api/workflows/:slug/schedules/:id",
    operationId: "getSchedule",
    summary: "Read a schedule with its last runs",
    description: "Its runs have its id as `scheduleId` in their metadata.",
    params: scheduleParams,
    responses: { 200: withRuns },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const { executions: service, triggers: schedules } = gateway.services;
      const which = whichOf(caller, params);
      const ofSchedule = { userId: caller.user.id, limit: SHOWN_RUNS, metadata: { scheduleId: params.id } };
      const runs = covers(caller.capabilities, READ_RUNS)
        ? service.listExecutions(messages.ListExecutionsRequest.fromPartial(ofSchedule))
        : { executions: [] };
      const [{ schedule: message }, { executions }] = await Promise.all([schedules.getSchedule(which), runs]);
      const [scheduleView] = await withPending(context, [view(message)]);
      return { status: 200, body: { ...scheduleView, executions: executions.map(executionView) } };
    },
  }),
  defineRoute({
    ...scheduling,
    method: "PATCH",
    path: "/api/workflows/:slug/schedules/:id",
    operationId: "updateSchedule",
    summary: "Change, pause or resume a schedule",
    description:
      "`paused: false` restarts a schedule that stopped. Any change except a pause makes the schedule the caller's: its runs count on the budget of the caller's key, have the metadata that the key fixes, and stop with the key.",
    params: scheduleParams,
    body: jsonBody(change),
    responses: { 200: schedule },
    errors: [...RUN_ERRORS, "NOT_FOUND"],
    example: { paused: true },
    handler: async (context) => {
      const { gateway, caller, params, body, members } = context;
      const limit = body.maxCredits === undefined ? undefined : { millicredits: limitOf(body.maxCredits) };
      const scheduleChange = {
        owner: triggerOwner(caller),
        workflowSlug: params.slug,
        id: params.id,
        cron: body.cron,
        timezone: body.timezone,
        inputsJson: members().get("inputs"),
        alias: changedAlias(caller, body),
        limit,
        webhook: await webhookOf(context, body.webhook),
        paused: body.paused,
      };
      const action = { action: "schedule.update", target: params.id, change: { workflow: params.slug, ...auditedBody(body) } };
      const changed = await auditedForOwner(context, action, async () => ({
        value: (await gateway.services.triggers.updateSchedule(scheduleChange, { deadlineMs: SCHEDULE_MS })).schedule,
      }));
      const [scheduleView] = await withPending(context, [view(changed)]);
      return { status: 200, body: scheduleView };
    },
  }),
  defineRoute({
    ...removing,
    method: "DELETE",
    path: "/api/workflows/:slug/schedules/:id",
    operationId: "deleteSchedule",
    summary: "Delete a schedule; runs that it started continue",
    params: scheduleParams,
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const action = { action: "schedule.delete", target: params.id, change: { workflow: params.slug } };
      await auditedForOwner(context, action, async () => ({
        value: await gateway.services.triggers.deleteSchedule(whichOf(caller, params)),
      }));
      return { status: 204 };
    },
  }),
];
