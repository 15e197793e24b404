import { randomUUID } from "node:crypto";
import {
  APPROVED_VERSION,
  creditLimit,
  DomainError,
  GRAPH_BOUNDS,
  invalidInputs,
  invalidRequest,
  REPLAYED_REFUSAL,
  RESERVED_METADATA,
  RUN_METADATA,
  toCredits,
  type Issue,
} from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { withPublicErrors } from "@nodeloom/platform";
import { runCapability } from "../../auth/caller";
import { runApp } from "../../apps/run";
import { webhookConfiguration } from "../executions/view";
import { markReplayed } from "../../edge/lease";
import { ASYNC_WAIT_MS } from "../../http/limits";
import { readPrefer, type Preferences } from "../../http/prefer";
import { defineRoute, type CallContext, type Reply, type RouteDefinition } from "../../edge/route";
import { runReply, startRun, syncWaitMs, toRunner } from "./run";
import {
  anyObject,
  credits,
  line,
  MAX_CREDITS,
  modelParams,
  nodeWarnings,
  queryFlag,
  uuid,
  versionQuery,
  workflowParams,
} from "../../http/schemas";
import { jsonBody, type Body } from "../../http/body/kinds";

const ACCEPTED = 202;
const ASYNC_DESCRIPTION = "With `async=true` the answer comes at once and the run is polled";

export const inputs = anyObject.meta({ description: "Keys are the schema's field names; omitted fields take their defaults" });
export const maxCredits = z.number().min(0).max(MAX_CREDITS).optional();
/** Would be lost when an object that has it is copied. */
const NO_NAME = "__proto__";
/** A zero character, which no line has, parts names from values where they are kept. */
export const metadataName = line(RUN_METADATA.nameChars)
  .min(1)
  .refine((name) => name !== NO_NAME, "is no name that metadata may have");
export const metadata = z
  .record(metadataName, z.string().max(RUN_METADATA.valueChars))
  .refine((given) => Object.keys(given).length <= RUN_METADATA.entries, { error: `may have at most ${RUN_METADATA.entries} members` })
  .meta({ description: "Your own names for the run, as texts: on the execution, its webhooks and its usage row" });
const provenance = z
  .literal("full")
  .optional()
  .meta({ description: "Keeps prompts and settings with the files that the run makes (`GET /api/media/{id}/provenance`)" });
const quoteBody = z
  .strictObject({
    inputs,
    maxCredits: maxCredits.meta({ description: "Left aside: a run's body may be sent as it is" }),
    metadata: metadata.optional().meta({ description: "Left aside, too" }),
    provenance: provenance.meta({ description: "Left aside, too" }),
  })
  .meta({ id: "QuoteRequest" });
export const runBody = z
  .strictObject({
    inputs,
    metadata: metadata.optional(),
    provenance,
    maxCredits: maxCredits.meta({
      description:
        "The run is refused with INSUFFICIENT_CREDITS if it could cost more credits than this; calls that trial grants pay cost none. A quote's `estimatedCreditCost` is enough",
    }),
  })
  .meta({ id: "RunRequest" });
export const until = z.string().min(1).max(GRAPH_BOUNDS.nodeIdBytes).optional().meta({
  description:
    "A node's id, of a workflow of your own: only that node and what it needs run. Inputs that they don't ask for are left aside",
});
const workflowRunBody = runBody.extend({ until }).meta({ id: "WorkflowRunRequest" });
const workflowQuoteBody = quoteBody.extend({ until }).meta({ id: "WorkflowQuoteRequest" });
export const runQuery = z.strictObject({ async: queryFlag.optional().meta({ description: ASYNC_DESCRIPTION }) });
const workflowRunQuery = runQuery.extend({ version: versionQuery });
const workflowQuoteQuery = z.strictObject({ version: versionQuery });

const runWarnings = nodeWarnings.optional().meta({
  description: "What is odd about nodes, such as misspelt settings and texts that were cut; absent where there is nothing",
});

export const runResult = z
  .object({
    success: z.literal(true),
    result: anyObject,
    cost: credits.meta({ description: "Credits consumed; 0 when a trial grant paid" }),
    ms: z.number(),
    warnings: runWarnings,
  })
  .meta({ id: "RunResult" });

export const submitResult = z
  .object({
    _async: z.literal(true),
    executionId: uuid,
    requestId: z.string().nullable(),
    status: z.literal("processing"),
    webhookDelivery: webhookConfiguration,
    pollUrl: z.string(),
    warnings: runWarnings,
  })
  .meta({ id: "SubmitResult" });

const quoteGrant = z.object({
  model: z.string(),
  total: z.number().meta({ description: "Trial runs ever granted" }),
  remaining: z.number().meta({ description: "Trial runs that would be left after this run; `/api/me` has what is left now" }),
});
export const quoteNode = z.object({
  id: z.string(),
  type: z.string(),
  model: z.string(),
  items: z.number().meta({ description: "Calls at most" }),
  estimatedCreditCost: credits.meta({ description: "The most its calls may cost, without those that trial grants pay" }),
  grant: z.boolean().meta({ description: "Whether a trial grant pays at least one of its calls" }),
});
export const quoteResult = z
  .object({
    estimatedCreditCost: credits.nullable().meta({
      description:
        "What the run would hold: a list of unknown length counts as one item, or as `maxItems` of its node. Null without generators",
    }),
    maxCreditCost: credits.nullable().meta({ description: "The same with every list of unknown length at `maxItems` or 50" }),
    exact: z.boolean().meta({
      description:
        "Whether the two are one, no switch that only the run decides may skip a part of it, and no model that may be called in another's place has another price",
    }),
    nodes: z.array(quoteNode),
    grants: z.array(quoteGrant).meta({ description: "Trial grants for the run's models" }),
    warnings: nodeWarnings.meta({ description: "Placeholders that become empty text, and misspelt settings" }),
  })
  .meta({ id: "Quote" });

/** Anything wrong with `inputs`, or no body to hold them, is INVALID_INPUTS. */
const invalid = (issues: Issue[]): DomainError => {
  const isAboutInputs = issues.some(({ path }) => path === "" || path === "inputs" || path.startsWith("inputs."));
  return isAboutInputs ? invalidInputs(issues) : invalidRequest(issues);
};
/** The body of a request that has inputs. */
export const inputsBody = <B>(schema: z.ZodType<B>): Body<B> => jsonBody(schema, { invalid });

type TargetCase = NonNullable<executions.Target["target"]>["$case"];
type RunBody = Partial<z.infer<typeof workflowRunBody>>;
type RunContext = CallContext<"any", unknown, z.infer<typeof runQuery> & { version?: string | undefined }, RunBody>;

/** What is asked for beside what every run's request has. */
export interface RunPart {
  version?: string | undefined;
  rerun?: executions.Rerun;
  respondAsync?: boolean;
}

const { RUN_MODE_ASYNC, RUN_MODE_RESPOND_ASYNC, RUN_MODE_SYNC } = executions.RunMode;

const modeOf = (isAsync: boolean, { respondAsync }: Preferences): executions.RunMode => {
  // With both, the stricter rule of the query holds.
  if (isAsync) return RUN_MODE_ASYNC;
  return respondAsync ? RUN_MODE_RESPOND_ASYNC : RUN_MODE_SYNC;
};

/** A refusal that repeats an earlier one under the same key; undefined for any other error. */
const repeatedRefusal = (error: unknown): DomainError | undefined => {
  if (!(error instanceof DomainError) || error.metadata[REPLAYED_REFUSAL] !== true) return undefined;
  const { [REPLAYED_REFUSAL]: _, ...metadata } = error.metadata;
  return new DomainError(error.kind, error.reason, error.message, metadata);
};

/** The schema doesn't see every name, and some say which app's visitor a run is of. @throws INVALID_REQUEST */
export const checkMetadata = (json: string | undefined): void => {
  if (json === undefined) return;
  const issues = Object.keys(JSON.parse(json) as object)
    .filter((name) => name === NO_NAME || name.startsWith(RESERVED_METADATA))
    .map((name) => ({ path: `metadata.${name}`, message: "is no name that metadata may have" }));
  if (issues.length > 0) throw invalidRequest(issues);
};

/** Inputs as they were sent; a rerun without any has those of the earlier run. */
const sentInputs = ({ members }: Pick<CallContext, "members">, { rerun }: RunPart): string =>
  members().get("inputs") ?? (rerun ? "" : "{}");

export const run = async (context: RunContext, $case: TargetCase, value: string, part: RunPart = {}): Promise<Reply> => {
  const { gateway, caller, body, query } = context;
  const preferred = readPrefer(context.request.headers.prefer);
  const preferences = { ...preferred, respondAsync: preferred.respondAsync || (part.respondAsync ?? false) };
  const mode = modeOf(query.async ?? false, preferences);
  checkMetadata(context.members().get("metadata"));
  const request = executions.RunRequest.fromPartial({
    executionId: context.executionId,
    target: { target: { $case, value }, version: part.version ?? query.version ?? "", until: body.until ?? "" },
    runner: toRunner(caller, $case === "model" ? "model" : "workflow"),
    inputsJson: sentInputs(context, part),
    rerun: part.rerun,
    mode,
    waitMs: mode === RUN_MODE_SYNC ? syncWaitMs(preferences) : ASYNC_WAIT_MS,
    maxMillicredits: body.maxCredits === undefined ? undefined : creditLimit(body.maxCredits),
    fingerprint: context.fingerprint,
    requestToken: randomUUID(),
    // Without a key the id is made for this request.
    isNew: context.fingerprint === "",
    noQueue: preferences.noQueue,
    metadata: body.metadata ?? {},
    fullProvenance: body.provenance === "full",
  });
  const response = await startRun(gateway.services.executions, request, gateway.stopping).catch((error: unknown) => {
    const repeated = repeatedRefusal(error);
    if (repeated) markReplayed(context.response);
    throw repeated ?? error;
  });
  if (response.replayed && context.fingerprint !== "") markReplayed(context.response);
  const { execution } = response;
  const shown = execution && caller.visitor ? { ...response, execution: withPublicErrors(execution) } : response;
  const reply = runReply({ request, response: shown });
  const applied: Record<string, string> =
    preferred.respondAsync && reply.status === ACCEPTED ? { "Preference-Applied": "respond-async" } : {};
  return { ...reply, headers: { ...reply.headers, ...applied } };
};

type QuoteContext = CallContext<"any", unknown, unknown, Partial<z.infer<typeof workflowQuoteBody>>>;

/** @returns what executions answers */
export const askQuote = (
  context: QuoteContext,
  $case: TargetCase,
  value: string,
  { version = "", rerun }: RunPart = {},
): Promise<executions.QuoteResponse> =>
  context.gateway.services.executions.quote({
    target: { target: { $case, value }, version, until: context.body.until ?? "" } as executions.Target,
    runner: toRunner(context.caller, $case === "model" ? "model" : "workflow"),
    inputsJson: sentInputs(context, { ...(rerun ? { rerun } : {}) }),
    rerun,
  });

/** A quote as clients see it. */
export const quoteView = (quoted: executions.QuoteResponse) => {
  const { nodes, grants, warnings, millicredits, maxMillicredits, mayCostLess } = quoted;
  return {
    estimatedCreditCost: nodes.length === 0 ? null : toCredits(millicredits),
    maxCreditCost: nodes.length === 0 ? null : toCredits(maxMillicredits),
    exact: maxMillicredits === millicredits && !mayCostLess,
    nodes: nodes.map(({ id, type, model, items, millicredits: price, grant }) => ({
      id,
      type,
      model,
      items,
      estimatedCreditCost: toCredits(price),
      grant,
    })),
    grants,
    warnings,
  };
};

const quote = async (context: QuoteContext, $case: TargetCase, value: string, version?: string): Promise<Reply> => ({
  status: 200,
  body: quoteView(await askQuote(context, $case, value, { version })),
});

/** The run capability of what a path names. @param parameter of the path */
export const specific =
  (kind: "workflow" | "model", parameter: string) =>
  (params: Readonly<Record<string, string>>): string =>
    runCapability(kind, params[parameter] ?? "");

export const GRAPH_ERRORS = ["INVALID_INPUTS", "WORKFLOW_INVALID", "MODEL_TIER_REQUIRED", "MODEL_NOT_FOUND"] as const;
export const RUN_ERRORS = [
  "INVALID_INPUTS",
  "CONTENT_REFUSED",
  "ASYNC_NOT_SUPPORTED",
  "INSUFFICIENT_CREDITS",
  "BUDGET_EXCEEDED",
  "grant_exhausted",
  "MODEL_TIER_REQUIRED",
  "CONCURRENCY_LIMIT_EXCEEDED",
  "EXECUTION_CANCELLED",
  "EXECUTION_FAILED",
  "OUTGOING_LIMIT_EXCEEDED",
  "PROVIDER_SUBMIT_FAILED",
  "PROVIDER_RESPONSE_INCOMPLETE",
] as const;

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
    description: "Waits up to 120 s (`Prefer: wait=n` lowers it), then answers 202 and the run goes on.",
    errors: [...RUN_ERRORS, ...GRAPH_ERRORS, "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
    example: { inputs: { prompt: "A lighthouse at dusk" } },
    app: "visitors",
    handler: (context) => {
      const start = (part: RunPart = {}): Promise<Reply> => run(context, "workflowSlug", context.params.slug, part);
      const { visitor } = context.caller;
      return visitor ? runApp(context, visitor, () => start({ version: APPROVED_VERSION })) : start();
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
    errors: ["ACCOUNT_NOT_APPROVED", ...GRAPH_ERRORS, "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
    example: { inputs: { prompt: "A lighthouse at dusk" } },
    handler: (context) => quote(context, "workflowSlug", context.params.slug, context.query.version),
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
