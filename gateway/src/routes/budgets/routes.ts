import { DEFAULT_BUDGET_VALUE, ENTERPRISE_CAPS, RUN_METADATA, USUAL_CAPS } from "@nodeloom/kernel";
import { billing } from "@nodeloom/proto";
import { z } from "zod";
import { notFound } from "../../http/errors";
import { defineRoute, type CallContext, type Reply, type RouteDefinition } from "../../edge/route";
import { idParams, listQuery, workflowParams } from "../../http/schemas";
import { auditedForOwner } from "../../edge/audit";
import { metadataName } from "../runs/schemas";
import { readableWorkflow } from "../workflows/readable";
import { budget, budgetView, setRequest, settings } from "./view";
import { jsonBody } from "../../http/body/kinds";

type Scope = NonNullable<billing.BudgetScope["scope"]>;
type Context = Pick<CallContext<"session">, "gateway" | "caller" | "logger" | "response">;

const settingsBody = z.strictObject(settings).meta({ id: "BudgetSettings", example: { credits: 500, window: "month", alertAt: [0.8] } });
const metadataValue = z.string().max(RUN_METADATA.valueChars);
const metadataBody = z
  .strictObject({ metadata: z.strictObject({ name: metadataName, value: metadataValue }), ...settings })
  .refine(({ metadata, alertAt }) => metadata.value !== DEFAULT_BUDGET_VALUE || alertAt.length === 0, {
    path: ["alertAt"],
    message: "must be empty for a default budget, which has no alerts",
  })
  .meta({
    id: "MetadataBudgetSettings",
    example: { metadata: { name: "customer", value: "acme" }, credits: 500, window: "month", alertAt: [0.8] },
  });

const shared = { tag: "Budgets", auth: "session", limit: "user" } as const satisfies Partial<RouteDefinition<"session">>;
const ofKey = { ...shared, path: "/api/keys/:id/budget", params: idParams("key"), errors: ["NOT_FOUND"] } as const;
const ofWorkflow = { ...shared, path: "/api/workflows/:slug/budget", params: workflowParams } as const;
const ONE = `A run that may cost more than the remaining budget gets BUDGET_EXCEEDED before any call. An active run fails if it needs more. An account has at most ${USUAL_CAPS.budgets} budgets (Enterprise: ${ENTERPRISE_CAPS.budgets}). Setting one again changes it and keeps the used credits.`;

const ofValue = z
  .object({
    name: metadataName.optional().meta({ description: "Of the metadata, with `value`: only the budget that counts runs with this value" }),
    value: metadataValue.optional(),
  })
  .refine(({ name, value }) => (name === undefined) === (value === undefined), { path: ["value"], message: "must be sent with name" });

const keyScope = (value: string): Scope => ({ $case: "keyId", value });
const workflowScope = (value: string): Scope => ({ $case: "workflowSlug", value });

/** Audit target of a budget. */
const targetOf = (scope: Scope): string =>
  scope.$case === "metadata" ? `metadata ${scope.value.name}=${scope.value.value}` : `${scope.$case} ${scope.value}`;

/**
 * Resumes batches that a budget has paused, if it has more credits now. If a batch can't be resumed now, it stays paused and can be resumed
 * later.
 */
const resumeBatches = async ({ gateway, caller, logger }: Context): Promise<void> => {
  await gateway.services.batches
    .resumePausedBatches({ userId: caller.user.id })
    .catch((error: unknown) => logger.warn({ err: error }, "batches that budgets have paused were not resumed"));
};

const set = async (context: Context, scope: Scope, body: Parameters<typeof setRequest>[2]): Promise<Reply> => {
  const { gateway, caller } = context;
  const stored = await auditedForOwner(context, { action: "budget.set", target: targetOf(scope), change: body }, async () => {
    const { budget: value } = await gateway.services.billing.setBudget(setRequest(caller.user, scope, body));
    return { value };
  });
  await resumeBatches(context);
  return { status: 200, body: budgetView(stored) };
};

const find = async ({ gateway, caller }: Context, isMeant: (scope: Scope) => boolean): Promise<Reply> => {
  const { budgets } = await gateway.services.billing.listBudgets({ userId: caller.user.id });
  const stored = budgets.find(({ scope }) => scope?.scope !== undefined && isMeant(scope.scope));
  if (!stored) throw notFound("budget");
  return { status: 200, body: budgetView(stored) };
};

const remove = async (context: Context, which: { id: string } | { scope: Scope }): Promise<Reply> => {
  const scope = "scope" in which ? { scope: { scope: which.scope } } : which;
  const request = billing.DeleteBudgetRequest.fromPartial({ userId: context.caller.user.id, ...scope });
  const target = "scope" in which ? targetOf(which.scope) : which.id;
  await auditedForOwner(context, { action: "budget.delete", target }, async () => ({
    value: await context.gateway.services.billing.deleteBudget(request),
  }));
  await resumeBatches(context);
  return { status: 204 };
};

const requireKey = async ({ gateway, caller }: Context, id: string): Promise<void> => {
  const { keys } = await gateway.services.identity.listKeys({ userId: caller.user.id, selection: { keyIds: [id] } });
  if (keys.length === 0) throw notFound("key");
};

export const budgetRoutes = [
  defineRoute({
    ...ofKey,
    method: "PUT",
    role: "owner",
    keyCapability: "budgets:write",
    operationId: "setKeyBudget",
    summary: "Set the budget of an API key",
    description: `${ONE} Runs of schedules and hooks that the key created count.`,
    body: jsonBody(settingsBody),
    responses: { 200: budget },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async (context) => {
      await requireKey(context, context.params.id);
      return set(context, keyScope(context.params.id), context.body);
    },
  }),
  defineRoute({
    ...ofKey,
    method: "GET",
    role: "viewer",
    keyCapability: "usage:read",
    operationId: "getKeyBudget",
    summary: "Read an API key's budget",
    responses: { 200: budget },
    handler: (context) => find(context, (scope) => scope.$case === "keyId" && scope.value === context.params.id),
  }),
  defineRoute({
    ...ofKey,
    method: "DELETE",
    role: "owner",
    keyCapability: "budgets:write",
    operationId: "deleteKeyBudget",
    summary: "Remove an API key's budget",
    responses: { 204: null },
    handler: (context) => remove(context, { scope: keyScope(context.params.id) }),
  }),
  defineRoute({
    ...ofWorkflow,
    method: "PUT",
    role: "owner",
    keyCapability: "budgets:write",
    operationId: "setWorkflowBudget",
    summary: "Set the budget of the caller's runs of a workflow",
    description: `${ONE} The workflow can be another owner's template. Runs of other accounts don't count.`,
    body: jsonBody(settingsBody),
    responses: { 200: budget },
    errors: ["PRECONDITION_FAILED"],
    handler: async (context) => {
      await readableWorkflow(context, context.params.slug);
      return set(context, workflowScope(context.params.slug), context.body);
    },
  }),
  defineRoute({
    ...ofWorkflow,
    method: "GET",
    role: "viewer",
    keyCapability: "usage:read",
    operationId: "getWorkflowBudget",
    summary: "Read a workflow's budget",
    responses: { 200: budget },
    errors: ["NOT_FOUND"],
    handler: (context) => find(context, (scope) => scope.$case === "workflowSlug" && scope.value === context.params.slug),
  }),
  defineRoute({
    ...ofWorkflow,
    method: "DELETE",
    role: "owner",
    keyCapability: "budgets:write",
    operationId: "deleteWorkflowBudget",
    summary: "Remove a workflow's budget",
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: (context) => remove(context, { scope: workflowScope(context.params.slug) }),
  }),
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/budgets",
    query: listQuery(ofValue),
    operationId: "listBudgets",
    summary: "List the caller's budgets, oldest first",
    description:
      "With `name` and `value`, the list has at most one budget: the value's own, or else the default budget of the name, with what this value has used of it.",
    role: "viewer",
    keyCapability: "usage:read",
    responses: { 200: z.array(budget) },
    handler: async ({ gateway, caller, query: { name, value } }) => {
      const of = name === undefined || value === undefined ? {} : { of: { name, value } };
      const { budgets } = await gateway.services.billing.listBudgets({ userId: caller.user.id, ...of });
      return { status: 200, body: budgets.map(budgetView) };
    },
  }),
  defineRoute({
    ...shared,
    method: "PUT",
    path: "/api/budgets",
    operationId: "setMetadataBudget",
    summary: "Set the budget of runs with a metadata value",
    description: `Use it for your customers: set the customer in the metadata of each run, or of a key for all its runs. The value \`*\` sets the default: each value without its own budget can use this much. It counts as one budget and has no alerts; a changed window starts at zero. ${ONE}`,
    role: "owner",
    keyCapability: "budgets:write",
    body: jsonBody(metadataBody),
    responses: { 200: budget },
    errors: ["PRECONDITION_FAILED"],
    handler: (context) => set(context, { $case: "metadata", value: context.body.metadata }, context.body),
  }),
  defineRoute({
    ...shared,
    method: "DELETE",
    path: "/api/budgets/:id",
    params: idParams("budget"),
    operationId: "deleteBudget",
    summary: "Remove a budget of any kind",
    description: "Also works if the key or workflow no longer exists.",
    role: "owner",
    keyCapability: "budgets:write",
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: (context) => remove(context, { id: context.params.id }),
  }),
];
