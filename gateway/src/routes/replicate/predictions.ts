import { invalidRequest, isSlug, PRODUCTION } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { jsonBody } from "../../http/body/kinds";
import { SYNC_WAIT_MS } from "../../http/limits";
import { anyObject, cursor, executionParams, listQuery, PAGES_END_EARLY } from "../../http/schemas";
import { defineRoute, type Reply } from "../../edge/route";
import { ownExecution } from "../executions/own";
import { isFinal } from "../executions/view";
import { beginRun, cancelling, cancelRun, reading, RUN_ERRORS, running, waitForRun, type RunContext } from "../facades/runs";
import { NODELOOM, readTarget, WORKFLOW } from "../facades/target";
import { readWebhook, type FacadeWebhook } from "../facades/webhook";
import { modelName, nextPage, pageOf, pageView, prediction, predictionView } from "./view";

/** Starts, reads, lists and cancels predictions. */

const MS = 1_000;
/** Replicate's wait if `Prefer: wait` has no number of seconds. */
const WAIT_MS = 60_000;
/** Most cancelled runs end within this time, so that the response shows the final status. */
const CANCEL_WAIT_MS = 5_000;
const ACCEPTED = 202;
const CREATED = 201;
const PAGE_ROWS = 100;

const WAIT = /^wait(?:=(\d{1,6}))?$/i;

/** Wait that `Prefer` sets: `wait`, or `wait=<seconds>`. @throws INVALID_REQUEST */
const waitMsOf = (header: string | string[] | undefined): number => {
  const preferences = String(header ?? "").split(/[,;]/).map((one) => one.trim()); // prettier-ignore
  for (const preference of preferences) {
    const [matched, seconds] = WAIT.exec(preference) ?? [];
    if (matched !== undefined) return seconds === undefined ? WAIT_MS : Math.min(SYNC_WAIT_MS, Number(seconds) * MS);
    if (/^wait\b/i.test(preference))
      throw invalidRequest([{ path: "Prefer", message: "must be `wait` or `wait=<seconds>`, a whole number" }]);
  }
  return 0;
};

const input = anyObject.meta({ description: "Inputs, by Nodeloom's or Replicate's names" });
const EVENTS = ["start", "output", "logs", "completed"] as const;
const COMPLETED = "completed";
const predictionRequest = z.looseObject({
  input: input.optional(),
  webhook: z.string().nullish().meta({
    description: "Receives the finished prediction, signed with the secret of `GET /api/webhook-secret`",
  }),
  webhook_events_filter: z.array(z.enum(EVENTS)).nullish().meta({ description: "Without `completed`, nothing is sent" }),
});
const body = predictionRequest.meta({ id: "ReplicatePredictionRequest" });
const versioned = predictionRequest
  .extend({
    version: z
      .string()
      .min(1)
      .max(300)
      .meta({ description: "`<owner>/<name>`, `workflow/<slug>:<number>`, or a version's id", example: "nodeloom/sandbox-image" }),
  })
  .meta({ id: "ReplicateVersionRequest" });

type Context = RunContext & { body: z.infer<typeof predictionRequest> | undefined };

const VERSIONED = /^([^:]+)(?::([1-9]\d{0,8}|draft|production))?$/;
/** Ids of versions at Replicate: SHA-256 in hexadecimal digits. */
const FOREIGN = /^(?:.*:)?[0-9a-f]{64}$/;

/**
 * Reads `version`: a name, optionally with a number; or an id of a version here, the internal name of a model, or `<slug>:<number>` or
 * `<slug>:production` of a workflow.
 * @throws INVALID_REQUEST for a version at Replicate
 */
const readVersion = (text: string): { name: string; version: string } => {
  const [, name = "", version = ""] = FOREIGN.test(text) ? [] : (VERSIONED.exec(text) ?? []);
  const number = version === PRODUCTION ? "" : version;
  if (name.includes("/") && (version === "" || name.startsWith(`${WORKFLOW}/`))) return { name, version: number };
  if (isSlug(name)) return { name: `${version === "" ? NODELOOM : WORKFLOW}/${name}`, version: number };
  const message = "must be <owner>/<name>, or the id of a version here; versions at Replicate are not known here";
  throw invalidRequest([{ path: "version", message }]);
};

const webhookOf = (body: Context["body"]): FacadeWebhook | undefined => {
  const { webhook, webhook_events_filter: events } = body ?? {};
  const isSent = webhook && (events?.includes(COMPLETED) ?? true);
  return isSent ? readWebhook(webhook, "replicate", "webhook") : undefined;
};

const begin = async (context: Context, name: string, version = ""): Promise<Reply> => {
  const { gateway, caller, request } = context;
  const target = await readTarget(gateway, caller, name, version);
  const inputs = target.inputsOf(context.body?.input ?? {});
  const waitMs = waitMsOf(request.headers.prefer);
  const run = await beginRun(context, { target, inputs, waitMs, webhook: webhookOf(context.body) });
  const view = predictionView(gateway, await ownExecution(context, run.executionId));
  const isOver = isFinal(run);
  // Replicate's libraries treat every other status as the end of a prediction that they waited for.
  return { status: waitMs > 0 && !isOver ? ACCEPTED : CREATED, body: isOver ? view : { ...view, status: "starting" } };
};

const shared = { tag: "Replicate", protocol: "replicate" } as const;
const start = {
  ...shared,
  ...running,
  responses: { 201: prediction, 202: prediction },
  errors: [...RUN_ERRORS, "PRECONDITION_FAILED"],
} as const;
const ofPrediction = { ...shared, params: executionParams, errors: ["EXECUTION_NOT_FOUND"] } as const;

export const replicatePredictionRoutes = [
  defineRoute({
    ...start,
    path: "/replicate/v1/models/:owner/:name/predictions",
    operationId: "replicateCreateModelPrediction",
    summary: "Run a model or a workflow",
    description: "`Prefer: wait` waits for the end for at most 60 s; `Prefer: wait=n` for n seconds, at most 120.",
    params: modelName,
    body: jsonBody(body),
    example: { input: { prompt: "A lighthouse at dusk" } },
    handler: (context) => begin(context as Context, `${context.params.owner}/${context.params.name}`),
  }),
  defineRoute({
    ...start,
    path: "/replicate/v1/predictions",
    operationId: "replicateCreatePrediction",
    summary: "Run the model or workflow of `version`",
    body: jsonBody(versioned),
    example: { version: "nodeloom/sandbox-image", input: { prompt: "A lighthouse at dusk" } },
    handler: async (context) => {
      const { name, version } = readVersion(context.body.version);
      return begin(context as Context, name, version);
    },
  }),
  defineRoute({
    ...shared,
    ...reading,
    limit: "user",
    path: "/replicate/v1/predictions",
    operationId: "replicateListPredictions",
    summary: "List predictions, newest first",
    description: PAGES_END_EARLY,
    query: listQuery(z.object({ cursor: cursor.optional() })),
    responses: {
      200: pageOf(prediction).meta({ id: "ReplicatePredictions" }),
    },
    handler: async ({ gateway, caller, query }) => {
      const page = await gateway.services.executions.listExecutions(
        executions.ListExecutionsRequest.fromPartial({ userId: caller.user.id, limit: PAGE_ROWS, cursor: query.cursor ?? "" }),
      );
      const results = page.executions.map((run) => predictionView(gateway, run));
      return { status: 200, body: pageView(results, nextPage(gateway, "predictions", page.nextCursor)) };
    },
  }),
  defineRoute({
    ...ofPrediction,
    ...reading,
    path: "/replicate/v1/predictions/:id",
    operationId: "replicateGetPrediction",
    summary: "Read a prediction",
    responses: { 200: prediction },
    handler: async (context) => ({
      status: 200,
      body: predictionView(context.gateway, await ownExecution(context as RunContext, context.params.id)),
    }),
  }),
  defineRoute({
    ...ofPrediction,
    ...cancelling,
    method: "POST",
    path: "/replicate/v1/predictions/:id/cancel",
    operationId: "replicateCancelPrediction",
    summary: "Cancel a prediction",
    description: "Waits up to 5 seconds for its end. A finished prediction doesn't change.",
    responses: { 200: prediction },
    handler: async (context) => {
      const { gateway, params } = context;
      await cancelRun(context as RunContext, params.id);
      const run = await ownExecution(context as RunContext, params.id);
      return { status: 200, body: predictionView(gateway, await waitForRun(context as RunContext, run, CANCEL_WAIT_MS)) };
    },
  }),
];
