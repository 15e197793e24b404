import { covers, creditLimit, ENTERPRISE_CAPS, TRIGGER_BOUNDS, USUAL_CAPS } from "@nodeloom/kernel";
import { executions as messages, type triggers } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute, type CallContext } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";
import { notFound } from "../../http/errors";
import { SCHEDULE_MS } from "../../http/limits";
import { listQuery, slug, uuid, workflowParams, type ParamsSpec } from "../../http/schemas";
import { executionView } from "../executions/view";
import { checkWebhook } from "../runs/webhook";
import { listedOf } from "../workflows/readable";
import { change, creation, READ_RUNS, schedule, scheduleView, withRuns } from "./schedule-view";
import { aliasFor, reading, removing, scheduling, triggerOwner, withPending } from "./trigger";

/** Schedules of workflows. */

/** Latest runs shown with a schedule. */
const SHOWN_RUNS = 10;

const scheduleParams: ParamsSpec<{ slug: string; id: string }> = {
  schema: z.object({ slug, id: uuid }),
  invalid: () => notFound("schedule"),
};

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
    path: "/api/schedules",
    operationId: "listAllSchedules",
    query: listQuery(),
    summary: "List the schedules of all of the caller's workflows, oldest first",
    responses: { 200: z.array(schedule) },
    handler: async (context) => {
      const { schedules } = await context.gateway.services.triggers.listSchedules({ userId: context.caller.user.id, workflowSlug: "" });
      return { status: 200, body: await withPending(context, schedules.map(scheduleView)) };
    },
  }),
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
      return { status: 200, body: await withPending(context, (await listedOf(context, params.slug, schedules)).map(scheduleView)) };
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
      const [pendingView] = await withPending(context, [scheduleView(newSchedule)]);
      return { status: 201, body: pendingView, headers: { Location: `/api/workflows/${params.slug}/schedules/${newSchedule?.id}` } };
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
      const [pendingView] = await withPending(context, [scheduleView(message)]);
      return { status: 200, body: { ...pendingView, executions: executions.map(executionView) } };
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
      const [pendingView] = await withPending(context, [scheduleView(changed)]);
      return { status: 200, body: pendingView };
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
