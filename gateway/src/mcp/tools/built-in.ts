import type { CallToolResult } from "@modelcontextprotocol/server";
import { invalidRequest, isRecord } from "@nodeloom/kernel";
import { z } from "zod";
import { jsonBody } from "../../http/body/kinds";
import { toJson } from "../../http/json";
import type { Reply, Route } from "../../edge/route";
import { revisionTag } from "../../http/revisions";
import { slug, uuid } from "../../http/schemas";
import { executionRoutes } from "../../routes/executions/routes";
import { runRoutes } from "../../routes/runs/routes";
import { workflowRoutes } from "../../routes/workflows/routes";
import { callRoute, type McpContext } from "../calls";
import { linkToExecution, structured, withFiles } from "../contents";
import { follow } from "../follow";
import { CATALOG_TOOLS } from "../builder/catalog";
import { patchRoute, revisionOf, validateRoute } from "../builder/drafts";
import { PUBLISHING_TOOLS } from "../builder/publishing";
import { RUN_NODE } from "../builder/run-node";
import { routeNamed } from "../named";
import { outcomeSchema, RUNS, runTool, waitSeconds } from "../runs";
import { argumentsSchema, asRouteCall, objectSchema } from "./arguments";
import { READS, type Tool, type ToolCall } from "./tool";

/** Built-in tools: each calls one or two routes of the API. */

const [listRoute, getRoute, createRoute, updateRoute] = ["listWorkflows", "getWorkflow", "createWorkflow", "updateWorkflow"].map((name) =>
  routeNamed(workflowRoutes, name),
) as [Route, Route, Route, Route];
const [pollRoute, cancelRoute] = [routeNamed(executionRoutes, "getExecution"), routeNamed(executionRoutes, "cancelExecution")];
const QUOTES = { workflow: routeNamed(runRoutes, "quoteWorkflow"), model: routeNamed(runRoutes, "quoteModel") };

const MS = 1_000;
/** Default number of rows. */
const LISTED = "50";

const executionId = uuid.meta({ description: "Id from the answer of a run" });
const target = {
  workflow: slug.optional().meta({ description: "The slug of a workflow; this or `model`" }),
  model: slug.optional().meta({ description: "The internal name of a model; this or `workflow`", example: "sandbox-image" }),
};

/** Arguments without the named ones, and the text values of the named ones. */
const without = (args: ReadonlyMap<string, string>, ...names: readonly string[]): Map<string, string> =>
  new Map([...args].filter(([name]) => !names.includes(name)));
const valueOf = (args: ReadonlyMap<string, string>, name: string): unknown => {
  const text = args.get(name);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
};

/** @throws DomainError INVALID_REQUEST unless exactly one target is named */
const targetOf = (args: ReadonlyMap<string, string>): { kind: "workflow" | "model"; id: string } => {
  const [workflow, model] = [valueOf(args, "workflow"), valueOf(args, "model")];
  if ((workflow === undefined) === (model === undefined))
    throw invalidRequest([{ path: "workflow", message: "or `model` is required, and only one of them" }]);
  const kind = workflow === undefined ? "model" : "workflow";
  const id = workflow ?? model;
  if (typeof id !== "string") throw invalidRequest([{ path: kind, message: "must be text" }]);
  return { kind, id };
};

const renamed = (args: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...args].map(([name, text]) => [name === "executionId" ? "id" : name, text]));

/** Cursor from the Link header of a list. */
const nextCursorOf = ({ headers = {} }: Reply): string | null => {
  const address = /^<([^>]+)>/.exec(headers.Link ?? "")?.[1];
  return address === undefined ? null : new URL(address, "http://list").searchParams.get("cursor");
};

const list = async ({ context, args }: ToolCall) => {
  const call = asRouteCall(listRoute, args);
  const reply = await callRoute(context, listRoute, { ...call, query: { limit: LISTED, ...call.query } });
  // Pictures are for people, and can be data URLs.
  const rows = (reply.body as Record<string, unknown>[]).map(({ cover: _, thumbnail: __, ...row }) => row);
  return structured({ workflows: rows, nextCursor: nextCursorOf(reply) });
};

/** A workflow with the number of its draft's revision. */
const withRevision = ({ body, headers }: Reply) => structured({ revision: revisionOf(headers), ...(body as object) });

/** @throws DomainError INVALID_REQUEST unless the revision is a number, of a workflow that exists */
const revisionIn = (args: ReadonlyMap<string, string>): number | undefined => {
  const revision = valueOf(args, "revision");
  if (revision === undefined) return undefined;
  if (!args.has("slug")) throw invalidRequest([{ path: "revision", message: "needs `slug`" }]);
  if (typeof revision === "number" && Number.isSafeInteger(revision) && revision >= 0) return revision;
  throw invalidRequest([{ path: "revision", message: "must be the `revision` of a draft, as `get_workflow` returns it" }]);
};

const save = async ({ context, args, executionId: id, fingerprint }: ToolCall) => {
  const route = args.has("slug") ? updateRoute : createRoute;
  const revision = revisionIn(args);
  const ifMatch = revision === undefined ? {} : { ifMatch: revisionTag(revision) };
  const routeCall = asRouteCall(route, without(args, "revision"));
  return withRevision(await callRoute(context, route, { ...routeCall, ...ifMatch, executionId: id, fingerprint }));
};

const routeTool = async (route: Route, { context, args }: ToolCall) =>
  structured((await callRoute(context, route, asRouteCall(route, args))).body);

const quote = async ({ context, args }: ToolCall) => {
  const { kind, id } = targetOf(args);
  const { query, body } = QUOTES[kind];
  const call = asRouteCall({ query, body }, without(args, "workflow", "model"));
  const params = kind === "workflow" ? { slug: id } : { internalName: id };
  return structured((await callRoute(context, QUOTES[kind], { ...call, params })).body);
};

/** Shows an execution with its files. If it exceeds a message, its nodes are dropped first, then its result. */
const resultOf = (context: McpContext, { body }: Reply): Promise<CallToolResult> | CallToolResult => {
  const { nodes: _, ...rest } = body as Record<string, unknown> & { executionId: string };
  const withoutNodes = (): CallToolResult =>
    structured(rest, () => linkToExecution(context.gateway, structured({ ...rest, result: undefined }), rest.executionId));
  const answer = structured(body, withoutNodes);
  const { result } = JSON.parse(toJson({ result: rest.result })) as { result?: unknown };
  return isRecord(result) ? withFiles(context, answer, result) : answer;
};

const getExecution = async (call: ToolCall) => {
  const { context, args, report, signal } = call;
  const pollCall = asRouteCall(pollRoute, renamed(without(args, "waitSeconds")));
  const { data: seconds = 0, error } = waitSeconds.safeParse(valueOf(args, "waitSeconds"));
  if (error) throw invalidRequest([{ path: "waitSeconds", message: "must be a number of seconds, at most 600" }]);
  const first = await callRoute(context, pollRoute, pollCall);
  if (seconds === 0) return resultOf(context, first);
  await follow(context, String(pollCall.params?.id), { waitMs: seconds * MS, report, signal });
  return resultOf(context, await callRoute(context, pollRoute, pollCall));
};

export const BUILT_IN: readonly Tool[] = [
  {
    name: "list_workflows",
    description: "Lists the caller's workflows and everyone's templates, newest first, with the expected cost of a run.",
    inputSchema: argumentsSchema(listRoute),
    annotations: READS,
    call: list,
  },
  {
    name: "get_workflow",
    description: "Reads a workflow: the nodes and edges of its draft, the draft's revision, and all else that is saved of it.",
    inputSchema: argumentsSchema(getRoute),
    annotations: READS,
    call: async ({ context, args }) => withRevision(await callRoute(context, getRoute, asRouteCall(getRoute, args))),
  },
  {
    name: "save_workflow",
    description:
      "Saves a workflow: with `slug` it changes the members that you send, without it a new one is made, which needs `name`. For small changes of a graph, use `patch_workflow`. A node of type request-input declares the inputs, one of type response-output the result.",
    inputSchema: argumentsSchema(
      { body: jsonBody((createRoute.body!.schema as z.ZodObject).omit({ mcp: true })) },
      {
        name: (updateRoute.body!.schema as z.ZodObject).shape.name as z.ZodType,
        slug: slug.optional().meta({ description: "The workflow to change. Without it, a new one is created" }),
        revision: z.number().int().min(0).optional().meta({ description: "Changes the workflow only if its draft has this revision" }),
      },
    ),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    call: save,
  },
  ...CATALOG_TOOLS,
  {
    name: "validate",
    description:
      "Checks and prices a workflow's draft, or a graph that isn't saved, without running it: `issues` say why a run would be rejected. Inputs without a value or a default take example values.",
    inputSchema: argumentsSchema(validateRoute),
    outputSchema: objectSchema(validateRoute.responses[200] as z.ZodType, "output"),
    annotations: READS,
    call: (call) => routeTool(validateRoute, call),
  },
  {
    name: "patch_workflow",
    description:
      "Changes the graph of your draft by small operations: add_node, remove_node, set_data, connect, disconnect, rename, move. All of them are applied, or none. It returns the problems and the price of the changed graph. With `dryRun`, nothing is saved.",
    inputSchema: argumentsSchema(patchRoute),
    outputSchema: objectSchema(patchRoute.responses[200] as z.ZodType, "output"),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    call: (call) => routeTool(patchRoute, call),
  },
  RUN_NODE,
  ...PUBLISHING_TOOLS,
  {
    name: "quote",
    description: "Checks a run of a workflow or a model and returns its price, without running it.",
    inputSchema: argumentsSchema({ query: QUOTES.workflow.query, body: QUOTES.workflow.body }, target),
    annotations: READS,
    call: quote,
  },
  {
    name: "run",
    description:
      "Runs a workflow or a model, which costs credits, and waits for its result. Without `maxCredits` only a run whose price is known exactly begins.",
    inputSchema: argumentsSchema({ query: RUNS.workflow.query, body: RUNS.workflow.body }, target),
    outputSchema: objectSchema(outcomeSchema(), "output"),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    call: (call) => {
      const { kind, id } = targetOf(call.args);
      return runTool(call, kind, id, without(call.args, "workflow", "model"));
    },
  },
  {
    name: "get_execution",
    description:
      "Reads a run: its status, its nodes and, when it is over, what it made or its error. With `waitSeconds` it waits for the end.",
    inputSchema: objectSchema(
      z.strictObject({ executionId, waitSeconds: waitSeconds.meta({ description: "Seconds to wait for the end. Default: 0" }) }),
    ),
    annotations: READS,
    call: getExecution,
  },
  {
    name: "cancel",
    description: "Cancels a run. Calls already sent to providers are charged; other calls are free.",
    inputSchema: objectSchema(z.strictObject({ executionId })),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    call: async ({ context, args }) => structured((await callRoute(context, cancelRoute, asRouteCall(cancelRoute, renamed(args)))).body),
  },
];
