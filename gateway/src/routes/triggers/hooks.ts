import { creditLimit, DomainError, ENTERPRISE_CAPS, toCredits, TRIGGER_BOUNDS, USUAL_CAPS } from "@nodeloom/kernel";
import type { triggers } from "@nodeloom/proto";
import type { Request } from "express";
import { z } from "zod";
import { HOOK_PATH, newHookSecret } from "../../auth/hook";
import { notFound } from "../../http/errors";
import { markReplayed } from "../../edge/lease";
import { ASYNC_WAIT_MS } from "../../http/limits";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute } from "../../edge/route";
import { headerValue, iso, listQuery, MAX_CREDITS, slug, timestamp, uuid, workflowParams, type ParamsSpec } from "../../http/schemas";
import { startRun } from "../runs/run";
import { listedOf } from "../workflows/readable";
import { pendingChange } from "../workflows/schemas";
import { alias, aliasFor, madeBy, reading, settingUp, shared, triggerOwner, withPending } from "./trigger";
import { jsonBody, signedBody } from "../../http/body/kinds";

/** Inbound hooks: addresses at which other services start a workflow. */

const EXECUTION_ID = "X-Execution-Id";

const header = z
  .string()
  .max(TRIGGER_BOUNDS.headerChars)
  .regex(/^[A-Za-z0-9-]+$/, "must be the name of a header")
  .meta({ example: "X-Hub-Signature-256" });
const expression = z.string().meta({
  description: "JMESPath that turns the JSON body into the inputs of the run, an object. Empty: the body itself",
  example: "{ prompt: issue.title }",
});
const maxCredits = z.number().min(0).max(MAX_CREDITS).meta({ description: "Maximum cost of each run in credits" });
const deliveryIdHeader = header.nullable().meta({
  description: "Header with the sender's delivery id. Deliveries with the same id start one run",
  example: "X-GitHub-Delivery",
});

const hook = z
  .object({
    id: uuid,
    workflowSlug: slug,
    alias: alias.nullable(),
    start: z.string().meta({ description: "First characters of its secret" }),
    expression,
    maxCredits,
    hmac: z.object({ header }).nullable(),
    deliveryIdHeader,
    keyId: z.string().nullable().meta({ description: "Key that created it, and with which it ends; null for a session" }),
    madeBy,
    pendingChange,
    createdAt: timestamp.nullable(),
  })
  .meta({ id: "Hook" });
const issued = hook.extend({ url: z.string().meta({ description: "Address for deliveries. Shown only once" }) }).meta({ id: "IssuedHook" });
const creation = z
  .strictObject({
    expression,
    maxCredits,
    alias: alias.nullish(),
    hmac: z
      .strictObject({
        header,
        secret: headerValue(TRIGGER_BOUNDS.signatureSecretChars),
      })
      .nullish()
      .meta({ description: "Deliveries must be signed: the header contains `sha256=` and the hexadecimal HMAC-SHA-256 of the raw body" }),
    deliveryIdHeader: deliveryIdHeader.optional(),
  })
  .meta({ id: "NewHook" });
const received = z.object({ executionId: uuid, status: z.literal("processing") }).meta({ id: "HookReceipt" });

const hookParams: ParamsSpec<{ slug: string; id: string }> = { schema: z.object({ slug, id: uuid }), invalid: () => notFound("hook") };
const secretParams: ParamsSpec<{ secret: string }> = { schema: z.object({ secret: z.string() }), invalid: () => notFound("hook") };

const view = (message: triggers.Hook | undefined) => {
  if (!message) throw new Error("triggers answered without a hook");
  const { id, workflowSlug, start, signatureHeader, keyId } = message;
  return {
    ...{ id, workflowSlug, alias: message.alias || null, start, expression: message.expression },
    maxCredits: toCredits(message.maxMillicredits),
    hmac: signatureHeader ? { header: signatureHeader } : null,
    deliveryIdHeader: message.deliveryIdHeader || null,
    keyId: keyId || null,
    madeBy: message.madeBy || null,
    createdAt: iso(message.createdAt),
  };
};

/** If the workflow of a hook was deleted, the sender gets the error for a hook that doesn't exist. */
const asGone = (error: unknown): never => {
  throw error instanceof DomainError && error.reason === "WORKFLOW_NOT_FOUND" ? notFound("hook") : error;
};

/** Value of a header; empty if it is missing or not required. */
const valueOf = (request: Request, name: string | null): string => (name === null ? "" : (request.get(name) ?? ""));

export const hookRoutes = [
  defineRoute({
    ...reading,
    method: "GET",
    path: "/api/hooks",
    operationId: "listAllHooks",
    query: listQuery(),
    summary: "List the hooks of all of the caller's workflows, oldest first",
    responses: { 200: z.array(hook) },
    handler: async (context) => {
      const { hooks } = await context.gateway.services.triggers.listHooks({ userId: context.caller.user.id, workflowSlug: "" });
      return { status: 200, body: await withPending(context, hooks.map(view)) };
    },
  }),
  defineRoute({
    ...reading,
    method: "GET",
    path: "/api/workflows/:slug/hooks",
    operationId: "listHooks",
    query: listQuery(),
    summary: "List the caller's hooks of a workflow, oldest first",
    params: workflowParams,
    responses: { 200: z.array(hook) },
    errors: ["WORKFLOW_NOT_FOUND"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const { hooks } = await gateway.services.triggers.listHooks({ userId: caller.user.id, workflowSlug: params.slug });
      return { status: 200, body: await withPending(context, (await listedOf(context, params.slug, hooks)).map(view)) };
    },
  }),
  defineRoute({
    ...settingUp,
    method: "POST",
    path: "/api/workflows/:slug/hooks",
    operationId: "createHook",
    summary: "Create a hook, an address that starts a workflow; it is shown only once",
    description: `From Pro up; at most ${USUAL_CAPS.hooks} per account (Enterprise: ${ENTERPRISE_CAPS.hooks}). Its runs have its id as \`hookId\` in their metadata.`,
    params: workflowParams,
    body: jsonBody(creation),
    responses: { 201: issued },
    errors: ["WORKFLOW_NOT_FOUND", "ALIAS_NOT_FOUND", "PRECONDITION_FAILED", "NOT_CONFIGURED"],
    example: {
      expression: "{ prompt: issue.title }",
      maxCredits: 20,
      hmac: { header: "X-Hub-Signature-256", secret: "a secret that the sender has, too" },
      deliveryIdHeader: "X-GitHub-Delivery",
    },
    handler: async (context) => {
      const { gateway, caller, params, body } = context;
      const { secret, ...hashedSecret } = newHookSecret();
      const hookRequest = {
        owner: triggerOwner(caller),
        workflowSlug: params.slug,
        alias: aliasFor(caller, body.alias),
        expression: body.expression,
        maxMillicredits: creditLimit(body.maxCredits),
        signatureHeader: body.hmac?.header ?? "",
        signatureSecret: body.hmac?.secret ?? "",
        deliveryIdHeader: body.deliveryIdHeader ?? "",
        maxHooks: caller.user.plan.caps.hooks,
        ...hashedSecret,
      };
      const { hmac, ...change } = body;
      const audited = { ...change, ...(hmac ? { hmac: { header: hmac.header } } : {}) };
      const newHook = await auditedForOwner(context, { action: "hook.create", target: params.slug, change: audited }, async () => {
        const { hook: value } = await gateway.services.triggers.createHook(hookRequest);
        return { value, after: { id: value?.id } };
      });
      const [hookView] = await withPending(context, [view(newHook)]);
      return { status: 201, body: { ...hookView, url: `${gateway.publicBaseUrl}${HOOK_PATH}${secret}` } };
    },
  }),
  defineRoute({
    ...shared,
    capability: "workflow:write",
    role: "editor",
    method: "DELETE",
    path: "/api/workflows/:slug/hooks/:id",
    operationId: "deleteHook",
    summary: "Revoke a hook; runs that it started continue",
    params: hookParams,
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const which = { userId: caller.user.id, workflowSlug: params.slug, id: params.id };
      const action = { action: "hook.delete", target: params.id, change: { workflow: params.slug } };
      await auditedForOwner(context, action, async () => ({ value: await gateway.services.triggers.deleteHook(which) }));
      return { status: 204 };
    },
  }),
  defineRoute({
    method: "POST",
    path: `${HOOK_PATH}:secret`,
    operationId: "receiveHook",
    summary: "Start a hook's workflow",
    description: "For the service that sends deliveries. Counts against the limits of the hook's account.",
    tag: "Schedules and hooks",
    auth: "hook",
    role: "self",
    limit: "user",
    params: secretParams,
    body: signedBody(TRIGGER_BOUNDS.deliveryBytes),
    responses: { 202: received },
    errors: [
      "NOT_FOUND",
      "ALIAS_NOT_FOUND",
      "SIGNATURE_INVALID",
      "INVALID_INPUTS",
      "INSUFFICIENT_CREDITS",
      "BUDGET_EXCEEDED",
      "grant_exhausted",
      "WORKFLOW_INVALID",
      "CONTENT_REFUSED",
      "MODEL_TIER_REQUIRED",
      "MODEL_NOT_FOUND",
      "IDEMPOTENCY_KEY_REUSED",
      "CONCURRENCY_LIMIT_EXCEEDED",
    ],
    handler: async ({ gateway, caller, request, response, body }) => {
      const sender = caller.hook;
      if (!sender) throw notFound("hook");
      const { executions, triggers: service } = gateway.services;
      const { run } = await service.readDelivery({
        secretHash: sender.secretHash,
        body,
        signature: valueOf(request, sender.signatureHeader),
        deliveryId: valueOf(request, sender.deliveryIdHeader),
      });
      if (!run) throw new Error("triggers answered without a run");
      const { text: inputsJson, urls } = gateway.mediaUrls.enter(run.inputsJson);
      if (urls.length > 0) await gateway.mediaUrls.admit(urls, caller, { value: { inputs: JSON.parse(inputsJson) }, forRun: true });
      response.setHeader(EXECUTION_ID, run.executionId);
      const { replayed } = await startRun(executions, { ...run, inputsJson, waitMs: ASYNC_WAIT_MS }, gateway.stopping).catch(asGone);
      if (replayed && sender.deliveryIdHeader !== null) markReplayed(response);
      return { status: 202, body: { executionId: run.executionId, status: "processing" } };
    },
  }),
];
