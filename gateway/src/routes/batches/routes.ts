import { randomUUID } from "node:crypto";
import { creditLimit } from "@nodeloom/kernel";
import { batches } from "@nodeloom/proto";
import { z } from "zod";
import { authorize, runCapability } from "../../auth/caller";
import { BATCH_CREATE_MS, BATCH_RESULTS_MS } from "../../http/limits";
import { content, defineRoute, STREAMED, type CallContext } from "../../edge/route";
import { cursor, cursorPage, executionParams, limit, listQuery, nextCursor } from "../../http/schemas";
import { notFound } from "../../http/errors";
import { whileConnected } from "../../http/event-stream";
import { maxCredits } from "../runs/schemas";
import { toRunner } from "../runs/run";
import { batchWebhook, runnerWith } from "../runs/webhook";
import { ACCEPTED, created, createdReply, ORDER_ERRORS, type TargetCase } from "./creating";
import { FORMATS, signedRows, streamResults } from "./results";
import { batch, batchRow, batchView, rowView } from "./view";
import { jsonBody } from "../../http/body/kinds";

type ById = CallContext<"any", { id: string }>;

/** The kind of the batch's target. Continuing the caller's batch needs the right to run it. */
const mayRun = async ({ gateway, caller, params }: ById): Promise<TargetCase> => {
  const { batch: stored } = await gateway.services.batches.getBatch({ batchId: params.id, userId: caller.user.id });
  const { workflowSlug: slug, model: internalName } = stored ?? {};
  authorize(caller, "any", slug === undefined ? runCapability("model", internalName ?? "") : runCapability("workflow", slug));
  return slug === undefined ? "model" : "workflowSlug";
};

const batchParams = { ...executionParams, invalid: () => notFound("batch") };
const ofOne = { tag: "Batches", auth: "any", limit: "user", params: batchParams, errors: ["NOT_FOUND"] } as const;
const reading = { ...ofOne, method: "GET", capability: "execution:read" } as const;

export const batchRoutes = [
  defineRoute({
    method: "GET",
    path: "/api/batches",
    operationId: "listBatches",
    summary: "List the caller's batches, newest first",
    tag: "Batches",
    auth: "any",
    role: "viewer",
    capability: "execution:read",
    limit: "user",
    query: listQuery(z.object({ limit, cursor: cursor.optional() })),
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
    description: "Rows come in their order; use `cursor` for the next ones. If results are long, a page has fewer rows than `limit`.",
    role: "viewer",
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
    summary: "Download all rows of a batch with their results",
    description:
      "`jsonl`: one row per line. `csv`: a column for each input and each member of the results. A file has its address in one column and its id in the next.",
    role: "viewer",
    query: z.strictObject({ format: z.enum(FORMATS).default("jsonl") }),
    responses: { 200: content({ "application/x-ndjson": batchRow, "text/csv": z.string() }) },
    handler: async ({ gateway, caller, params, query, response }) => {
      const one = { batchId: params.id, userId: caller.user.id };
      await gateway.services.batches.getBatch(one);
      const signal = whileConnected(response, gateway.stopping);
      async function* rows(): AsyncGenerator<batches.BatchRow> {
        for await (const { row } of gateway.services.batches.readBatchResults(one, { deadlineMs: BATCH_RESULTS_MS, signal }))
          if (row) yield row;
      }
      const signed = (): AsyncIterable<batches.BatchRow> => signedRows(rows(), (text) => gateway.mediaUrls.leave(text, caller));
      await streamResults(response, params.id, query.format, signed);
      return STREAMED;
    },
  }),
  defineRoute({
    ...ofOne,
    method: "POST",
    path: "/api/batches/:id/cancel",
    operationId: "cancelBatch",
    summary: "Cancel a batch: waiting items never start, running items are cancelled",
    capability: "execution:cancel",
    role: "runner",
    responses: { 200: batch },
    handler: async ({ gateway, caller, params }) => {
      const { batch: stored } = await gateway.services.batches.cancelBatch({ batchId: params.id, userId: caller.user.id });
      return { status: 200, body: batchView(stored) };
    },
  }),
  defineRoute({
    ...ofOne,
    method: "POST",
    role: "runner",
    path: "/api/batches/:id/resume",
    operationId: "resumeBatch",
    summary: "Resume a paused batch",
    description:
      "Needs the capability to run its workflow or model. The remaining items run for the caller: they count on the budget of the caller's key and have the metadata that it fixes. If the batch isn't paused, you get 412.",
    approval: true,
    body: jsonBody(z.strictObject({ maxCredits }).optional().meta({ id: "ResumeBatchRequest" })),
    responses: { 200: batch },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED", "CAPABILITY_DENIED"],
    handler: async (context) => {
      const { gateway, caller, params, body } = context;
      const target = await mayRun(context as ById);
      const max = body?.maxCredits;
      const { batch: stored } = await gateway.services.batches.resumeBatch(
        batches.ResumeBatchRequest.fromPartial({
          batchId: params.id,
          userId: caller.user.id,
          runner: toRunner(caller, target === "model" ? "model" : "workflow"),
          maxMillicredits: max === undefined ? undefined : creditLimit(max),
        }),
      );
      return { status: 200, body: batchView(stored) };
    },
  }),
  defineRoute({
    ...ofOne,
    method: "POST",
    role: "runner",
    path: "/api/batches/:id/rerun",
    operationId: "rerunBatch",
    summary: "Run the failed, skipped or cancelled rows of a batch again, as a new batch",
    description: "Needs the capability to run its workflow or model. If there are no such rows, you get 412.",
    approval: true,
    idempotent: "rebuild",
    body: jsonBody(
      z
        .strictObject({
          status: z.enum(["failed", "cancelled", "skipped"]).meta({ description: "`skipped`: never started" }),
          maxCredits,
          webhook: batchWebhook.optional(),
        })
        .meta({ id: "RerunBatchRequest", example: { status: "failed" } }),
    ),
    responses: { [ACCEPTED]: created },
    errors: ["NOT_FOUND", "SOURCE_ERASED", "PRECONDITION_FAILED", "CAPABILITY_DENIED", ...ORDER_ERRORS],
    handler: async (context) => {
      const { gateway, caller, params, body, executionId, fingerprint } = context;
      const target = await mayRun(context as ById);
      const own = body.webhook && (await runnerWith(gateway, caller, body.webhook));
      const request = batches.RerunBatchRequest.fromPartial({
        batchId: params.id,
        newBatchId: executionId || randomUUID(),
        runner: { ...toRunner(caller, target === "model" ? "model" : "workflow"), ...own },
        statuses: [body.status],
        fingerprint,
        maxMillicredits: body.maxCredits === undefined ? undefined : creditLimit(body.maxCredits),
      });
      return createdReply(context, await gateway.services.batches.rerunBatch(request, { deadlineMs: BATCH_CREATE_MS }));
    },
  }),
];
