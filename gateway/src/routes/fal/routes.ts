import { DomainError, executionNotFound } from "@nodeloom/kernel";
import { z } from "zod";
import { jsonBody } from "../../http/body/kinds";
import { modelNotFound } from "../../http/errors";
import { anyObject, executionParams, type ParamsSpec } from "../../http/schemas";
import { toJson } from "../../http/json";
import { content, defineRoute } from "../../edge/route";
import { ownExecution } from "../executions/own";
import { isFinal } from "../executions/view";
import { beginRun, cancelling, cancelRun, reading, RUN_ERRORS, running, type RunContext } from "../facades/runs";
import { changesOf, followRun } from "../facades/follow";
import { readTarget } from "../facades/target";
import { END_ERRORS } from "../runs/schemas";
import { readWebhook } from "../facades/webhook";
import { falUploadRoutes, withUploads } from "./uploads";
import { resultView, status, statusView, submitted, submittedView } from "./view";

/** fal's API: its queue, and synchronous runs. */

/** Shorter than the timeout of fal's libraries for a synchronous run. */
const SYNC_WAIT_MS = 600_000;
const ACCEPTED = 202;
const BAD_REQUEST = 400;
const REQUEST_ID = "x-fal-request-id";
const SLASH = "/";
const WEBHOOK = "fal_webhook";

const endpoint = z
  .array(z.string())
  .min(2)
  .transform((parts) => parts.join(SLASH))
  .meta({
    description: "`workflow/<slug>`, `nodeloom/<model>`, or fal's own name of a model",
    override: { type: "string", items: null, minItems: null },
    example: "nodeloom/sandbox-image",
  });
const endpointParams: ParamsSpec<{ endpoint: string }> = { schema: z.object({ endpoint }), invalid: () => modelNotFound("of that name") };
const requested: ParamsSpec<{ endpoint: string; id: string }> = {
  schema: z.object({ endpoint, id: (executionParams.schema as z.ZodObject<{ id: z.ZodString }>).shape.id }),
  invalid: executionNotFound,
};
const logsQuery = z.object({ logs: z.string().max(5).optional().meta({ description: "`1` or `true`: with logs" }) });
const wantsLogs = (logs: string | undefined): boolean => logs === "1" || logs?.toLowerCase() === "true";

const input = anyObject.optional().meta({ description: "Inputs, by Nodeloom's or fal's names" });
const cancelled = z.object({ status: z.enum(["CANCELLATION_REQUESTED", "ALREADY_COMPLETED"]) }).meta({ id: "FalCancelled" });
const unfinished = z.object({ detail: z.string() });

const shared = { tag: "fal", protocol: "fal" } as const;
const ofRequest = { ...shared, params: requested, errors: ["EXECUTION_NOT_FOUND"] } as const;
const start = {
  ...shared,
  ...running,
  params: endpointParams,
  body: jsonBody(input),
  example: { prompt: "A lighthouse at dusk" },
} as const;

const note = ({ response }: Pick<RunContext, "response">, id: string): void => void response.setHeader(REQUEST_ID, id);

export const falRoutes = [
  // Before the routes of endpoints, whose paths match theirs.
  ...falUploadRoutes,
  defineRoute({
    ...start,
    path: "/fal/run/*endpoint",
    operationId: "falRun",
    summary: "Run, and wait for the result",
    description: "Waits at most 600 seconds. Works like `https://fal.run/{endpoint}`.",
    responses: { 200: anyObject },
    errors: [...RUN_ERRORS, ...END_ERRORS],
    handler: async (context) => {
      const { gateway, caller, params, executionId } = context;
      note(context, executionId);
      const target = await readTarget(gateway, caller, params.endpoint);
      const run = await beginRun(context as RunContext, {
        target,
        inputs: target.inputsOf(await withUploads(gateway, caller, context.body ?? {})),
        waitMs: SYNC_WAIT_MS,
      });
      if (isFinal(run)) return { status: 200, body: resultView(run) };
      const message = `the run continues: read ${gateway.publicBaseUrl}/fal/${params.endpoint}/requests/${executionId}`;
      throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", message, { executionId });
    },
  }),
  defineRoute({
    ...reading,
    ...ofRequest,
    path: "/fal/*endpoint/requests/:id/status",
    operationId: "falStatus",
    summary: "Get the status of a request",
    query: logsQuery,
    responses: { 200: status, 202: status },
    handler: async (context) => {
      const { gateway, params, query } = context;
      note(context, params.id);
      const run = await ownExecution(context as RunContext, params.id);
      return { status: isFinal(run) ? 200 : ACCEPTED, body: statusView(gateway, params.endpoint, run, wantsLogs(query.logs)) };
    },
  }),
  defineRoute({
    ...reading,
    ...ofRequest,
    path: "/fal/*endpoint/requests/:id/status/stream",
    operationId: "falStatusStream",
    summary: "Follow a request as server-sent events",
    description: "Sends an event for each change of status, until the request ends.",
    query: logsQuery,
    responses: { 200: content({ "text/event-stream": z.object({ data: status }).meta({ id: "FalStatusEvent" }) }) },
    errors: ["EXECUTION_NOT_FOUND", "CONCURRENCY_LIMIT_EXCEEDED"],
    handler: (context) => {
      const { gateway, params, query } = context;
      note(context, params.id);
      return followRun(context as RunContext, params.id, "fal", async function* (events, first) {
        let last = "";
        for await (const run of changesOf(context as RunContext, events, first)) {
          const data = toJson(statusView(gateway, params.endpoint, run, wantsLogs(query.logs)));
          if (data !== last) yield { type: "", data };
          last = data;
        }
      });
    },
  }),
  defineRoute({
    ...cancelling,
    ...ofRequest,
    method: "PUT",
    path: "/fal/*endpoint/requests/:id/cancel",
    operationId: "falCancel",
    summary: "Cancel a request",
    responses: { 202: cancelled, 400: cancelled },
    handler: async (context) => {
      note(context, context.params.id);
      const isAsked = (await cancelRun(context as RunContext, context.params.id)) === "cancel_requested";
      return isAsked
        ? { status: ACCEPTED, body: { status: "CANCELLATION_REQUESTED" } }
        : { status: BAD_REQUEST, body: { status: "ALREADY_COMPLETED" } };
    },
  }),
  defineRoute({
    ...reading,
    ...ofRequest,
    path: "/fal/*endpoint/requests/:id",
    operationId: "falResult",
    summary: "Read the result of a request",
    description: "Returns 400 until the request ends.",
    responses: { 200: anyObject, 400: unfinished },
    errors: ["EXECUTION_NOT_FOUND", ...END_ERRORS],
    handler: async (context) => {
      note(context, context.params.id);
      const run = await ownExecution(context as RunContext, context.params.id);
      if (!isFinal(run)) return { status: BAD_REQUEST, body: { detail: "Request is still in progress" } };
      return { status: 200, body: resultView(run) };
    },
  }),
  defineRoute({
    ...start,
    path: "/fal/*endpoint",
    operationId: "falSubmit",
    query: z.object({
      fal_webhook: z
        .string()
        .optional()
        .meta({ description: "Receives the end of the request in fal's format, signed with the secret of `GET /api/webhook-secret`" }),
    }),
    summary: "Submit a request to the queue",
    description: "Works like `https://queue.fal.run/{endpoint}`. The endpoint can have a path after its owner and name.",
    responses: { 200: submitted },
    errors: [...RUN_ERRORS, "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller, params, query, executionId } = context;
      note(context, executionId);
      const target = await readTarget(gateway, caller, params.endpoint);
      const webhook = query.fal_webhook === undefined ? undefined : readWebhook(query.fal_webhook, "fal", WEBHOOK);
      const run = await beginRun(context as RunContext, {
        target,
        inputs: target.inputsOf(await withUploads(gateway, caller, context.body ?? {})),
        waitMs: 0,
        webhook,
      });
      return { status: 200, body: submittedView(gateway, params.endpoint, run) };
    },
  }),
];
