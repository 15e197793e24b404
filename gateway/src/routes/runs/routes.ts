import { randomUUID } from "node:crypto";
import {
  APPROVED_VERSION,
  creditLimit,
  DomainError,
  invalidRequest,
  REPLAYED_REFUSAL,
  RESERVED_METADATA,
  toCredits,
} from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { routeJson, withPublicErrors } from "@nodeloom/platform";
import type { Caller } from "../../auth/caller";
import { runApp } from "../../apps/run";
import { markReplayed } from "../../edge/lease";
import { ASYNC_WAIT_MS } from "../../http/limits";
import { readPrefer, type Preferences } from "../../http/prefer";
import { defineRoute, type CallContext, type Reply, type RouteDefinition } from "../../edge/route";
import { selectedGraph, type VersionSelection, type SelectedGraph } from "../workflows/selection";
import { runReply, startRun, syncWaitMs, toRunner } from "./run";
import { runnerWith } from "./webhook";
import { modelParams, workflowParams } from "../../http/schemas";
import {
  BAD_NAME,
  NO_NAME,
  quoteBody,
  runBody,
  workflowRunBody,
  workflowQuoteBody,
  runQuery,
  workflowRunQuery,
  workflowQuoteQuery,
  runResult,
  submitResult,
  quoteResult,
  inputsBody,
  specific,
  GRAPH_ERRORS,
  RUN_ERRORS,
} from "./schemas";

const ACCEPTED = 202;

type TargetCase = NonNullable<executions.Target["target"]>["$case"];
type RunBody = Partial<z.infer<typeof workflowRunBody>>;
type RunContext = CallContext<"any", unknown, z.infer<typeof runQuery> & VersionSelection, RunBody>;

/** Optional parts of a run request. */
export interface RunPart extends VersionSelection {
  rerun?: executions.Rerun;
  respondAsync?: boolean;
}

const { RUN_MODE_ASYNC, RUN_MODE_RESPOND_ASYNC, RUN_MODE_SYNC } = executions.RunMode;

const modeOf = (isAsync: boolean, { respondAsync }: Preferences): executions.RunMode => {
  // If a request has both, the query's stricter rule applies.
  if (isAsync) return RUN_MODE_ASYNC;
  return respondAsync ? RUN_MODE_RESPOND_ASYNC : RUN_MODE_SYNC;
};

/** An error stored under the key of an earlier attempt; undefined for other errors. */
const repeatedRefusal = (error: unknown): DomainError | undefined => {
  if (!(error instanceof DomainError) || error.metadata[REPLAYED_REFUSAL] !== true) return undefined;
  const { [REPLAYED_REFUSAL]: _, ...metadata } = error.metadata;
  return new DomainError(error.kind, error.reason, error.message, metadata);
};

/** Checks names that the schema can't see, and names reserved for apps' visitors. @throws INVALID_REQUEST */
export const checkMetadata = (json: string | undefined): void => {
  if (json === undefined) return;
  const issues = Object.keys(JSON.parse(json) as object)
    .filter((name) => name === NO_NAME || name.startsWith(RESERVED_METADATA))
    .map((name) => ({
      path: `metadata.${name}`,
      message: name === NO_NAME ? BAD_NAME : `names that begin with ${RESERVED_METADATA} are reserved`,
    }));
  if (issues.length > 0) throw invalidRequest(issues);
};

/** Inputs as sent. A rerun without inputs uses those of the earlier run. */
const sentInputs = ({ members }: Pick<CallContext, "members">, { rerun }: RunPart): string =>
  members().get("inputs") ?? (rerun ? "" : "{}");

/** A model has only one graph. */
const graphOf = (caller: Caller, $case: TargetCase, selection: VersionSelection): Partial<SelectedGraph> =>
  $case === "model" ? {} : selectedGraph(caller, selection);

export const run = async (context: RunContext, $case: TargetCase, value: string, part: RunPart = {}): Promise<Reply> => {
  const { gateway, caller, body, query } = context;
  const preferred = readPrefer(context.request.headers.prefer);
  const preferences = { ...preferred, respondAsync: preferred.respondAsync || (part.respondAsync ?? false) };
  const mode = modeOf(query.async ?? false, preferences);
  checkMetadata(context.members().get("metadata"));
  const own = body.webhook ? await runnerWith(gateway, caller, body.webhook) : {};
  const request = executions.RunRequest.fromPartial({
    executionId: context.executionId,
    target: { target: { $case, value }, ...graphOf(caller, $case, { ...query, ...part }), until: body.until ?? "" },
    runner: { ...toRunner(caller, $case === "model" ? "model" : "workflow"), ...own },
    inputsJson: sentInputs(context, part),
    rerun: part.rerun,
    mode,
    waitMs: mode === RUN_MODE_SYNC ? syncWaitMs(preferences) : ASYNC_WAIT_MS,
    maxMillicredits: body.maxCredits === undefined ? undefined : creditLimit(body.maxCredits),
    fingerprint: context.fingerprint,
    requestToken: randomUUID(),
    // Without a key the id is new.
    isNew: context.fingerprint === "",
    noQueue: preferences.noQueue,
    metadata: body.metadata ?? {},
    fullProvenance: body.provenance === "full",
    retentionDays: body.retentionDays,
  });
  const response = await startRun(gateway.services.executions, request, gateway.stopping).catch((error: unknown) => {
    const repeated = repeatedRefusal(error);
    if (repeated) markReplayed(context.response);
    throw repeated ?? error;
  });
  if (response.replayed && context.fingerprint !== "") markReplayed(context.response);
  const { execution } = response;
  const shownExecution = execution && caller.visitor ? { ...response, execution: withPublicErrors(execution) } : response;
  const reply = runReply({ request, response: shownExecution });
  const applied: Record<string, string> =
    preferred.respondAsync && reply.status === ACCEPTED ? { "Preference-Applied": "respond-async" } : {};
  return { ...reply, headers: { ...reply.headers, ...applied } };
};

type QuoteContext = CallContext<"any", unknown, unknown, Partial<z.infer<typeof workflowQuoteBody>>>;

/** @returns the quote from executions */
export const askQuote = (
  context: QuoteContext,
  $case: TargetCase,
  value: string,
  { rerun, ...selection }: RunPart = {},
): Promise<executions.QuoteResponse> =>
  context.gateway.services.executions.quote({
    target: executions.Target.fromPartial({
      target: { $case, value },
      ...graphOf(context.caller, $case, selection),
      until: context.body.until ?? "",
    }),
    runner: toRunner(context.caller, $case === "model" ? "model" : "workflow"),
    inputsJson: sentInputs(context, { ...(rerun ? { rerun } : {}) }),
    rerun,
    unsaved: undefined,
  });

export const quoteView = (quoted: executions.QuoteResponse) => {
  const { nodes, grants, warnings, millicredits, maxMillicredits, mayCostLess } = quoted;
  return {
    estimatedCreditCost: nodes.length === 0 ? null : toCredits(millicredits),
    maxCreditCost: nodes.length === 0 ? null : toCredits(maxMillicredits),
    exact: maxMillicredits === millicredits && !mayCostLess,
    nodes: nodes.map(({ id, type, model, items, millicredits: price, grant, considered }) => ({
      id,
      type,
      model,
      items,
      estimatedCreditCost: toCredits(price),
      grant,
      ...routeJson(considered),
    })),
    grants,
    warnings,
  };
};

const quote = async (context: QuoteContext, $case: TargetCase, value: string, selection: VersionSelection = {}): Promise<Reply> => ({
  status: 200,
  body: quoteView(await askQuote(context, $case, value, selection)),
});

const shared = { method: "POST", auth: "any", role: "runner", limit: "user", approval: true } as const satisfies Partial<
  RouteDefinition<"any">
>;
const running = {
  ...shared,
  startsRun: true,
  idempotent: "rebuild",
  query: runQuery,
  body: inputsBody(runBody),
  responses: { 200: runResult, 202: submitResult },
} as const;
const quoting = { ...shared, query: z.strictObject({}), body: inputsBody(quoteBody), responses: { 200: quoteResult } } as const;
const ofWorkflow = { tag: "Runs", capability: specific("workflow", "slug"), params: workflowParams } as const;
const ofModel = { tag: "Runs", capability: specific("model", "internalName"), params: modelParams } as const;

export const runRoutes = [
  defineRoute({
    ...running,
    ...ofWorkflow,
    query: workflowRunQuery,
    body: inputsBody(workflowRunBody),
    path: "/api/workflows/:slug/run",
    operationId: "runWorkflow",
    summary: "Run a workflow",
    description: "Waits up to 120 seconds, or `n` seconds with `Prefer: wait=n`. After that it returns 202 and the run continues.",
    errors: [...RUN_ERRORS, ...GRAPH_ERRORS, "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND", "ALIAS_NOT_FOUND"],
    example: { inputs: { prompt: "A lighthouse at dusk" } },
    app: "visitors",
    handler: (context) => {
      const start = (part: RunPart = {}): Promise<Reply> => run(context, "workflowSlug", context.params.slug, part);
      const { visitor } = context.caller;
      return visitor ? runApp(context, visitor, () => start({ version: APPROVED_VERSION, alias: "" })) : start();
    },
  }),
  defineRoute({
    ...quoting,
    ...ofWorkflow,
    query: workflowQuoteQuery,
    body: inputsBody(workflowQuoteBody),
    path: "/api/workflows/:slug/quote",
    operationId: "quoteWorkflow",
    summary: "Validate and price a workflow run without running it",
    errors: ["ACCOUNT_NOT_APPROVED", ...GRAPH_ERRORS, "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND", "ALIAS_NOT_FOUND"],
    example: { inputs: { prompt: "A lighthouse at dusk" } },
    handler: (context) => quote(context, "workflowSlug", context.params.slug, context.query),
  }),
  defineRoute({
    ...running,
    ...ofModel,
    path: "/api/models/:internalName/run",
    operationId: "runModel",
    summary: "Run a model",
    errors: [...RUN_ERRORS, "INVALID_SLUG", "MODEL_NOT_FOUND"],
    example: { inputs: { prompt: "A lighthouse at dusk" } },
    handler: (context) => run(context, "model", context.params.internalName),
  }),
  defineRoute({
    ...quoting,
    ...ofModel,
    path: "/api/models/:internalName/quote",
    operationId: "quoteModel",
    summary: "Validate and price a model run without running it",
    errors: ["ACCOUNT_NOT_APPROVED", "INVALID_INPUTS", "INVALID_SLUG", "MODEL_NOT_FOUND", "MODEL_TIER_REQUIRED"],
    example: { inputs: { prompt: "A lighthouse at dusk" } },
    handler: (context) => quote(context, "model", context.params.internalName),
  }),
];
