import { DomainError, GRAPH_BOUNDS, LIMITS, toCredits } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { authorize, runCapability } from "../../auth/caller";
import { defineRoute, type CallContext, type RouteDefinition } from "../../edge/route";
import { aliasName, credits, executionParams, versionMember } from "../../http/schemas";
import { ownExecution } from "../executions/own";
import { askQuote, quoteView, run } from "../runs/routes";
import {
  GRAPH_ERRORS,
  inputs,
  inputsBody,
  quoteNode,
  quoteResult,
  runBody,
  runQuery,
  runResult,
  RUN_ERRORS,
  submitResult,
  until,
} from "../runs/schemas";

/** Reruns an execution, reusing paid results. */

const nodeIds = z.array(z.string().min(1).max(GRAPH_BOUNDS.nodeIdBytes)).max(LIMITS.nodes).optional();
const rerunBody = runBody
  .extend({
    inputs: inputs.optional().meta({ description: "Default: the inputs of the original execution" }),
    until: until.meta({ description: "As for runs. Without `until` and `version`, the execution's own value" }),
    nodes: nodeIds.meta({ description: "Ids of nodes whose calls are made again" }),
    reuse: nodeIds.meta({
      description:
        "Ids of nodes whose HTTP requests, or decisions on the same value, are reused. Otherwise requests are sent again, and decisions are asked for again",
    }),
    alias: aliasName.optional().meta({ description: "A revision of the workflow's graph, instead of `version`" }),
    version: versionMember.meta({
      description: "A version's number, or `draft`: that graph of the workflow. Without it the graph that the execution ran",
    }),
    mode: z.enum(["sync", "async"]).optional().meta({ description: "`async` returns 202 at once, like `Prefer: respond-async`" }),
  })
  .meta({ id: "RerunRequest" });

const rerunQuote = quoteResult
  .extend({
    nodes: z.array(
      quoteNode.extend({
        reusedItems: z.array(z.number()).meta({ description: "Reused calls, by index from 0" }),
        savedCredits: credits.meta({ description: "Original cost of these calls" }),
      }),
    ),
    reused: z
      .object({
        calls: z.number().meta({ description: "Reused model calls, as far as they are known before the run" }),
        of: z.number().meta({ description: "Calls of models" }),
        savedCredits: credits,
      })
      .meta({ description: "Total of all nodes" }),
  })
  .meta({ id: "RerunQuote" });

type Body = z.infer<typeof rerunBody>;
type Context = CallContext<"any", { id: string }, unknown, Body>;

/** Target of an execution that the caller can run. @throws EXECUTION_NOT_FOUND, CAPABILITY_DENIED */
const targetOf = async ({ gateway, caller, params }: Context) => {
  const { workflowSlug: slug, modelIds } = await ownExecution({ gateway, caller }, params.id);
  const $case = slug === undefined ? "model" : "workflowSlug";
  const value = slug ?? modelIds[0] ?? "";
  authorize(caller, "any", runCapability(slug === undefined ? "model" : "workflow", value));
  return { $case, value } as const;
};

/** @throws INVALID_REQUEST for members that models don't support */
const partOf = ({ params, body }: Context, $case: "model" | "workflowSlug") => {
  const { nodes = [], reuse = [], until: last } = body;
  const version = body.version?.toString();
  const { alias } = body;
  const rerun = executions.Rerun.fromPartial({ executionId: params.id, nodes, reuse, otherGraph: (version ?? alias) !== undefined });
  if ($case === "model" && (version ?? alias ?? last) !== undefined)
    throw new DomainError("invalid", "INVALID_REQUEST", "a model's run has no version and no nodes: leave it out", {
      issues: [{ path: version !== undefined ? "version" : alias !== undefined ? "alias" : "until", message: "is only for workflows" }],
    });
  return { rerun, version, alias };
};

const shared = {
  method: "POST",
  tag: "Executions",
  auth: "any",
  role: "runner",
  capability: "execution:read",
  limit: "user",
  params: executionParams,
  approval: true,
  body: inputsBody(rerunBody),
} as const satisfies Partial<RouteDefinition<"any">>;
const ERRORS = [
  ...GRAPH_ERRORS,
  "EXECUTION_NOT_FOUND",
  "SOURCE_ERASED",
  "PRECONDITION_FAILED",
  "WORKFLOW_NOT_FOUND",
  "VERSION_NOT_FOUND",
  "ALIAS_NOT_FOUND",
] as const;

export const rerunRoutes = [
  defineRoute({
    ...shared,
    path: "/api/executions/:id/rerun",
    operationId: "rerunExecution",
    summary: "Rerun an execution, and pay only for new calls",
    description:
      "Creates a new execution of the same graph. It reuses, free of charge, the output of each call that the execution, or an earlier one in its chain of reruns, " +
      "made and charged with the same model, settings and files. Also needs the capability to run the workflow or model.",
    startsRun: true,
    idempotent: "rebuild",
    query: runQuery,
    responses: { 200: runResult, 202: submitResult },
    errors: [...RUN_ERRORS, ...ERRORS],
    example: { nodes: ["picture"] },
    handler: async (context) => {
      const { $case, value } = await targetOf(context);
      return run(context, $case, value, { ...partOf(context, $case), respondAsync: context.body.mode === "async" });
    },
  }),
  defineRoute({
    ...shared,
    path: "/api/executions/:id/rerun/quote",
    operationId: "quoteRerun",
    summary: "Get the price and the reused calls of a rerun, without running it",
    query: z.strictObject({}),
    responses: { 200: rerunQuote },
    errors: ["ACCOUNT_NOT_APPROVED", ...ERRORS],
    example: { nodes: ["picture"] },
    handler: async (context) => {
      const { $case, value } = await targetOf(context);
      const quoted = await askQuote(context, $case, value, partOf(context, $case));
      const view = quoteView(quoted);
      const sum = (of: (node: executions.QuoteNode) => number): number => quoted.nodes.reduce((total, node) => total + of(node), 0);
      const body = {
        ...view,
        nodes: view.nodes.map((node, index) => {
          const { reusedItems, savedMillicredits } = quoted.nodes[index]!;
          return { ...node, reusedItems, savedCredits: toCredits(savedMillicredits) };
        }),
        reused: {
          calls: sum(({ reusedItems }) => reusedItems.length),
          of: sum(({ items }) => items),
          savedCredits: toCredits(sum(({ savedMillicredits }) => savedMillicredits)),
        },
      };
      return { status: 200, body };
    },
  }),
];
