/** Creates and prices batches; `routes.ts` has the other operations. */
import { randomUUID } from "node:crypto";
import { toCredits } from "@nodeloom/kernel";
import type { batches } from "@nodeloom/proto";
import { z } from "zod";
import { markReplayed } from "../../edge/lease";
import { BATCH_CREATE_MS } from "../../http/limits";
import { defineRoute, type CallContext, type Reply, type RouteDefinition } from "../../edge/route";
import { credits, modelParams, selection, uuid, workflowParams } from "../../http/schemas";
import { inputsBody, specific } from "../runs/schemas";
import { runnerWith } from "../runs/webhook";
import { modelBatch, orderOf, workflowBatch, type BatchContext } from "./requests";

export const ACCEPTED = 202;

export const created = z.object({ batchId: uuid, total: z.number() }).meta({ id: "CreatedBatch" });
export const quoted = z
  .object({
    total: z.number(),
    estimatedCreditCost: credits.meta({ description: "Expected cost of all items, without calls that trial grants pay for" }),
    maxCreditCost: credits.meta({ description: "Maximum cost of all items" }),
    exact: z.boolean().meta({ description: "True if completed items cost exactly this" }),
  })
  .meta({ id: "BatchQuote" });

export const quotedView = ({ total, millicredits, maxMillicredits, exact }: batches.QuoteBatchResponse) => ({
  ...{ total, estimatedCreditCost: toCredits(millicredits), maxCreditCost: toCredits(maxMillicredits), exact },
});

/** @throws Error if executions returns no batch */
export const createdReply = (
  context: CallContext,
  { batch: stored, replayed }: { batch: batches.Batch | undefined; replayed: boolean },
): Reply => {
  if (!stored) throw new Error("executions answered without a batch");
  if (replayed && context.fingerprint !== "") markReplayed(context.response);
  return { status: ACCEPTED, body: { batchId: stored.batchId, total: stored.total } };
};

export type TargetCase = "workflowSlug" | "model";

const create = async (context: BatchContext, $case: TargetCase, value: string): Promise<Reply> => {
  const { gateway, caller, body, executionId, fingerprint } = context;
  const own = body.webhook && (await runnerWith(gateway, caller, body.webhook));
  const request = { batchId: executionId || randomUUID(), order: orderOf(context, $case, value, own), fingerprint };
  return createdReply(context, await gateway.services.batches.createBatch(request, { deadlineMs: BATCH_CREATE_MS }));
};

const quote = async (context: BatchContext, $case: TargetCase, value: string): Promise<Reply> => {
  const order = orderOf(context, $case, value);
  return { status: 200, body: quotedView(await context.gateway.services.batches.quoteBatch({ order }, { deadlineMs: BATCH_CREATE_MS })) };
};

const ITEM_ERRORS = ["INVALID_INPUTS", "WORKFLOW_INVALID", "MODEL_TIER_REQUIRED", "MODEL_NOT_FOUND", "ACCOUNT_NOT_APPROVED"] as const;
export const ORDER_ERRORS = [...ITEM_ERRORS, "INSUFFICIENT_CREDITS", "CONCURRENCY_LIMIT_EXCEEDED"] as const;

const shared = { tag: "Batches", method: "POST", auth: "any", role: "runner", limit: "user", approval: true } as const satisfies Partial<
  RouteDefinition<"any">
>;
const creating = { ...shared, idempotent: "rebuild", responses: { [ACCEPTED]: created } } as const;
const quoting = { ...shared, responses: { 200: quoted } } as const;
const ofWorkflow = {
  capability: specific("workflow", "slug"),
  params: workflowParams,
  query: z.strictObject(selection),
  body: inputsBody(workflowBatch),
  example: { inputs: [{ prompt: "A lighthouse at dusk" }, { prompt: "A lighthouse at dawn" }], maxCredits: 20 },
} as const;
const ofModel = {
  capability: specific("model", "internalName"),
  params: modelParams,
  query: z.strictObject({}),
  body: inputsBody(modelBatch),
  example: ofWorkflow.example,
} as const;
const ALL_OR_NOTHING =
  "All items are validated and priced before the first begins. If one is wrong, none begins, and `issues` names it (`index`). Items are executions with `batchId` and `index`. They use at most half of the concurrent runs of your tier.";

export const batchCreationRoutes = [
  defineRoute({
    ...creating,
    ...ofWorkflow,
    path: "/api/workflows/:slug/batches",
    operationId: "createWorkflowBatch",
    summary: "Run a workflow with many inputs",
    description: ALL_OR_NOTHING,
    errors: [...ORDER_ERRORS, "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND", "ALIAS_NOT_FOUND"],
    handler: (context) => create(context, "workflowSlug", context.params.slug),
  }),
  defineRoute({
    ...quoting,
    ...ofWorkflow,
    path: "/api/workflows/:slug/batches/quote",
    operationId: "quoteWorkflowBatch",
    summary: "Validate and price a batch of a workflow without running it",
    errors: [...ITEM_ERRORS, "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND", "ALIAS_NOT_FOUND"],
    handler: (context) => quote(context, "workflowSlug", context.params.slug),
  }),
  defineRoute({
    ...creating,
    ...ofModel,
    path: "/api/models/:internalName/batches",
    operationId: "createModelBatch",
    summary: "Run a model with many inputs",
    description: ALL_OR_NOTHING,
    errors: [...ORDER_ERRORS, "INVALID_SLUG"],
    handler: (context) => create(context as BatchContext & typeof context, "model", context.params.internalName),
  }),
  defineRoute({
    ...quoting,
    ...ofModel,
    path: "/api/models/:internalName/batches/quote",
    operationId: "quoteModelBatch",
    summary: "Validate and price a batch of a model without running it",
    errors: [...ITEM_ERRORS, "INVALID_SLUG"],
    handler: (context) => quote(context as BatchContext & typeof context, "model", context.params.internalName),
  }),
];
