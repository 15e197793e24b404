/** Batches: many runs of one workflow or model, with one budget. */
import { randomUUID } from "node:crypto";
import { creditLimit, toCredits } from "@nodeloom/kernel";
import { batches } from "@nodeloom/proto";
import { z } from "zod";
import { authorize } from "../../auth/caller";
import { markReplayed } from "../../http/lease";
import { BATCH_CREATE_MS, BATCH_RESULTS_MS } from "../../http/limits";
import { defineRoute, STREAMED, type CallContext, type Reply, type RouteDefinition } from "../../http/route";
import {
  credits,
  cursor,
  cursorPage,
  executionParams,
  limit,
  modelParams,
  nextCursor,
  uuid,
  versionQuery,
  workflowParams,
} from "../../schemas";
import { notFound } from "../../http/errors";
import { whileConnected } from "../../http/event-stream";
import { invalidBody, maxCredits, specific } from "../runs/routes";
import { toRunner } from "../runs/run";
import { modelBatch, orderOf, workflowBatch, type BatchContext } from "./requests";
import { FORMATS, streamResults } from "./results";
import { batch, batchRow, batchView, rowView } from "./view";

const ACCEPTED = 202;

const created = z.object({ batchId: uuid, total: z.number() }).meta({ id: "CreatedBatch" });
const quoted = z
  .object({
    total: z.number(),
    estimatedCreditCost: credits.meta({ description: "What all items would hold, without what trial grants pay" }),
    maxCreditCost: credits.meta({ description: "The same with every list of unknown length at `maxItems` or 50" }),
    exact: z.boolean().meta({ description: "Whether the items cost that, whatever the runs decide" }),
  })
  .meta({ id: "BatchQuote" });

const reply = (context: CallContext, { batch: stored, replayed }: { batch: batches.Batch | undefined; replayed: boolean }): Reply => {
  if (!stored) throw new Error("executions answered without a batch");
  if (replayed && context.fingerprint !== "") markReplayed(context.response);
  return { status: ACCEPTED, body: { batchId: stored.batchId, total: stored.total } };
};

type TargetCase = "workflowSlug" | "model";

const create = async (context: BatchContext, $case: TargetCase, value: string): Promise<Reply> => {
  const { gateway, executionId, fingerprint } = context;
  const request = { batchId: executionId || randomUUID(), order: orderOf(context, $case, value), fingerprint };
  return reply(context, await gateway.services.batches.createBatch(request, { deadlineMs: BATCH_CREATE_MS }));
};

const quote = async (context: BatchContext, $case: TargetCase, value: string): Promise<Reply> => {
  const order = orderOf(context, $case, value);
  const { total, millicredits, maxMillicredits, exact } = await context.gateway.services.batches.quoteBatch(
    { order },
    { deadlineMs: BATCH_CREATE_MS },
  );
  const body = { total, estimatedCreditCost: toCredits(millicredits), maxCreditCost: toCredits(maxMillicredits), exact };
  return { status: 200, body };
};

type ById = CallContext<"any", { id: string }>;

/** The caller's batch, by whose target running it on is judged. */
const mayRun = async ({ gateway, caller, params }: ById): Promise<TargetCase> => {
  const { batch: stored } = await gateway.services.batches.getBatch({ batchId: params.id, userId: caller.user.id });
  const { workflowSlug: slug, model: internalName } = stored ?? {};
  const capability =
    slug === undefined ? specific("model", "internalName")({ internalName: internalName ?? "" }) : specific("workflow", "slug")({ slug });
  authorize(caller, "any", capability);
  return slug === undefined ? "model" : "workflowSlug";
};

const batchParams = { ...executionParams, invalid: () => notFound("batch") };
const ITEM_ERRORS = ["INVALID_INPUTS", "WORKFLOW_INVALID", "MODEL_TIER_REQUIRED", "MODEL_NOT_FOUND", "ACCOUNT_NOT_APPROVED"] as const;
const ORDER_ERRORS = [...ITEM_ERRORS, "INSUFFICIENT_CREDITS", "CONCURRENCY_LIMIT_EXCEEDED"] as const;

const shared = { tag: "Batches", method: "POST", auth: "any", limit: "user", approval: true, invalidBody } as const satisfies Partial<
  RouteDefinition<"any">
>;
const creating = { ...shared, idempotent: "rebuild", responses: { [ACCEPTED]: created } } as const;
const quoting = { ...shared, responses: { 200: quoted } } as const;
const ofWorkflow = {
  capability: specific("workflow", "slug"),
  params: workflowParams,
  query: z.strictObject({ version: versionQuery }),
  body: workflowBatch,
  example: { inputs: [{ prompt: "A lighthouse at dusk" }, { prompt: "A lighthouse at dawn" }], maxCredits: 20 },
} as const;
const ofModel = {
  capability: specific("model", "internalName"),
  params: modelParams,
  query: z.strictObject({}),
  body: modelBatch,
  example: ofWorkflow.example,
} as const;
const ofOne = { tag: "Batches", auth: "any", limit: "user", params: batchParams, errors: ["NOT_FOUND"] } as const;
const reading = { ...ofOne, method: "GET", capability: "execution:read" } as const;

const ALL_OR_NOTHING =
  "All items are validated and priced before the first begins: where one is wrong, nothing begins, and `issues` says which (`index`). Items are executions with `batchId` and `index`; they take at most half of the places of your tier.";

export const batchRoutes = [
  defineRoute({
    ...creating,
    ...ofWorkflow,
    path: "/api/workflows/:slug/batches",
    operationId: "createWorkflowBatch",
    summary: "Run a workflow with up to 1,000 inputs",
    description: ALL_OR_NOTHING,
    errors: [...ORDER_ERRORS, "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
    handler: (context) => create(context, "workflowSlug", context.params.slug),
  }),
  defineRoute({
    ...quoting,
    ...ofWorkflow,
    path: "/api/workflows/:slug/batches/quote",
    operationId: "quoteWorkflowBatch",
    summary: "Validate and price a batch of a workflow without running it",
    errors: [...ITEM_ERRORS, "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
    handler: (context) => quote(context, "workflowSlug", context.params.slug),
  }),
  defineRoute({
    ...creating,
    ...ofModel,
    path: "/api/models/:internalName/batches",
    operationId: "createModelBatch",
    summary: "Run a model with up to 1,000 inputs",
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
  defineRoute({
    method: "GET",
    path: "/api/batches",
    list: true,
    operationId: "listBatches",
    summary: "List the caller's batches, newest first",
    tag: "Batches",
    auth: "any",
    capability: "execution:read",
    limit: "user",
    query: z.object({ limit, cursor: cursor.optional() }),
    responses: { 200: cursorPage(batch) },
    handler: async ({ gateway, caller, query }) => {
      const request = { userId: caller.user.id, limit: query.limit, cursor: query.cursor ?? "" };
      const page = await gateway.services.batches.listBatches(request);
      return { status: 200, body: { rows: page.batches.map(batchView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...reading,
    path: "/api/batches/:id",
    operationId: "getBatch",
    summary: "A batch with its counts and some of its rows",
    description: "Rows are in their order; those after them come with `cursor`. A page has fewer rows than `limit` where results are long.",
    query: z.strictObject({ limit, cursor: cursor.optional() }),
    responses: { 200: batch.extend({ rows: z.array(batchRow), nextCursor: z.string().nullable() }).meta({ id: "BatchWithRows" }) },
    handler: async ({ gateway, caller, params, query }) => {
      const one = { batchId: params.id, userId: caller.user.id };
      const [{ batch: stored }, page] = await Promise.all([
        gateway.services.batches.getBatch(one),
        gateway.services.batches.listBatchRows({ ...one, limit: query.limit, cursor: query.cursor ?? "" }),
      ]);
      return { status: 200, body: { ...batchView(stored), rows: page.rows.map(rowView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...reading,
    path: "/api/batches/:id/results",
    operationId: "getBatchResults",
    summary: "All rows of a batch with their results, as a file",
    description: "`jsonl`: one row a line. `csv`: a column for each input and each member of the results; files are their addresses.",
    query: z.strictObject({ format: z.enum(FORMATS).default("jsonl") }),
    contentType: "application/x-ndjson",
    responses: { 200: batchRow },
    handler: async ({ gateway, caller, params, query, response }) => {
      const one = { batchId: params.id, userId: caller.user.id };
      await gateway.services.batches.getBatch(one);
      const signal = whileConnected(response, gateway.stopping);
      async function* rows(): AsyncGenerator<batches.BatchRow> {
        for await (const { row } of gateway.services.batches.readBatchResults(one, { deadlineMs: BATCH_RESULTS_MS, signal }))
          if (row) yield row;
      }
      await streamResults(response, params.id, query.format, rows);
      return STREAMED;
    },
  }),
  defineRoute({
    ...ofOne,
    method: "POST",
    path: "/api/batches/:id/cancel",
    operationId: "cancelBatch",
    summary: "Cancel a batch: what waits never begins, what is under way is cancelled",
    capability: "execution:cancel",
    responses: { 200: batch },
    handler: async ({ gateway, caller, params }) => {
      const { batch: stored } = await gateway.services.batches.cancelBatch({ batchId: params.id, userId: caller.user.id });
      return { status: 200, body: batchView(stored) };
    },
  }),
  defineRoute({
    ...ofOne,
    method: "POST",
    path: "/api/batches/:id/resume",
    operationId: "resumeBatch",
    summary: "Go on with a paused batch",
    description: "Needs the capability to run its workflow or model. 412 for a batch that is not paused.",
    approval: true,
    body: z.strictObject({ maxCredits }).optional().meta({ id: "ResumeBatchRequest" }),
    responses: { 200: batch },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED", "CAPABILITY_DENIED"],
    handler: async (context) => {
      const { gateway, caller, params, body } = context;
      await mayRun(context as ById);
      const max = body?.maxCredits;
      const { batch: stored } = await gateway.services.batches.resumeBatch(
        batches.ResumeBatchRequest.fromPartial({
          batchId: params.id,
          userId: caller.user.id,
          maxMillicredits: max === undefined ? undefined : creditLimit(max),
        }),
      );
      return { status: 200, body: batchView(stored) };
    },
  }),
  defineRoute({
    ...ofOne,
    method: "POST",
    path: "/api/batches/:id/rerun",
    operationId: "rerunBatch",
    summary: "Run those rows of a batch again that ended in a way, as a new batch",
    description: "Needs the capability to run its workflow or model. 412 where there are no such rows.",
    approval: true,
    idempotent: "rebuild",
    body: z
      .strictObject({ status: z.enum(["failed", "cancelled", "skipped"]).meta({ description: "`skipped`: never begun" }), maxCredits })
      .meta({ id: "RerunBatchRequest", example: { status: "failed" } }),
    responses: { [ACCEPTED]: created },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED", "CAPABILITY_DENIED", ...ORDER_ERRORS],
    handler: async (context) => {
      const { gateway, caller, params, body, executionId, fingerprint } = context;
      const target = await mayRun(context as ById);
      const request = batches.RerunBatchRequest.fromPartial({
        batchId: params.id,
        newBatchId: executionId || randomUUID(),
        runner: toRunner(caller, target === "model" ? "model" : "workflow"),
        statuses: [body.status],
        fingerprint,
        maxMillicredits: body.maxCredits === undefined ? undefined : creditLimit(body.maxCredits),
      });
      return reply(context, await gateway.services.batches.rerunBatch(request, { deadlineMs: BATCH_CREATE_MS }));
    },
  }),
];
