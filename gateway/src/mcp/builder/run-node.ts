import type { CallToolResult } from "@modelcontextprotocol/server";
import { covers, DomainError, isRecord, resultMember } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { slug, uuid } from "../../http/schemas";
import { executionRoutes } from "../../routes/executions/routes";
import { maxCredits, inputs, metadata, until } from "../../routes/runs/schemas";
import { callRoute } from "../calls";
import { structured, withFiles } from "../contents";
import { routeNamed } from "../named";
import { outcomeSchema, runTool, waitSeconds } from "../runs";
import { objectSchema, readArguments } from "../tools/arguments";
import type { Tool, ToolCall } from "../tools/tool";

/** Runs of one node of a draft. */

const [listRoute, getRoute] = [routeNamed(executionRoutes, "listExecutions"), routeNamed(executionRoutes, "getExecution")];

const READ = "execution:read";
const NO_INPUTS = "{}";
const DRAFT = "draft";
/** Latest executions among which a finished one is looked for. */
const LOOKED_AT = 10;
const FINAL: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);
/** Errors of an earlier run that can't be reused. */
const UNUSABLE: ReadonlySet<string> = new Set(["EXECUTION_NOT_FOUND", "SOURCE_ERASED", "PRECONDITION_FAILED"]);

const runNodeArguments = z.strictObject({
  slug: slug.meta({ description: "The slug of your workflow" }),
  node: until.unwrap().meta({ description: "Id of the node to run. The nodes that it depends on run before it" }),
  inputs: inputs
    .optional()
    .meta({ description: "Inputs of the workflow. Default: those of the run that is reused, or the fields' defaults" }),
  reuse: uuid
    .optional()
    .meta({ description: "Execution whose unchanged results are reused, free of charge. Default: the latest of this workflow" }),
  again: z.boolean().optional().meta({ description: "Runs the node itself again, even if nothing changed" }),
  maxCredits: maxCredits.meta({ description: "The most that it can cost. Without it, the run starts only if its price is known exactly" }),
  metadata: metadata.optional(),
  waitSeconds,
});

type Arguments = z.infer<typeof runNodeArguments>;

/** The latest finished execution of a workflow; undefined if there is none, or the caller can't read executions. */
const latest = async ({ context, executionId }: ToolCall, workflowSlug: string): Promise<string | undefined> => {
  if (!covers(context.caller.capabilities, READ)) return undefined;
  const { body } = await callRoute(context, listRoute, { query: { workflowSlug, limit: String(LOOKED_AT) } });
  const { rows } = body as { rows: { executionId: string; status: string }[] };
  return rows.find((row) => FINAL.has(row.status) && row.executionId !== executionId)?.executionId;
};

const textsOf = (
  { node, inputs: given, maxCredits: most, metadata: labels, waitSeconds: seconds }: Arguments,
  args: ReadonlyMap<string, string>,
) => {
  const members = { inputs: given, maxCredits: most, metadata: labels, waitSeconds: seconds };
  const texts = Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, args.get(name)!] as const]));
  return new Map([...texts, ["until", JSON.stringify(node)], ["version", JSON.stringify(DRAFT)]]);
};

/** The node's outputs instead of the result of the workflow. */
const withOutputs = async ({ context }: ToolCall, answer: CallToolResult, node: string): Promise<CallToolResult> => {
  const execution = answer.structuredContent as Record<string, unknown> | undefined;
  if (execution?.status !== "completed" || !covers(context.caller.capabilities, READ)) return answer;
  const { body } = await callRoute(context, getRoute, { params: { id: String(execution.executionId) } });
  const nodes = (body as { nodes?: { id?: string; outputs?: unknown; reusedFrom?: string }[] }).nodes ?? [];
  const ran = nodes.find(({ id }) => id === node);
  if (!isRecord(ran?.outputs)) return answer;
  const { outputs, reusedFrom } = ran;
  const files = Object.fromEntries(Object.entries(outputs).map(([port, given]) => [resultMember(port), given]));
  return withFiles(context, structured({ ...execution, outputs, reusedFrom }), files);
};

const runNode = async (call: ToolCall): Promise<CallToolResult> => {
  const request = readArguments(runNodeArguments, call.args);
  const { slug: value, node, again = false, reuse } = request;
  const texts = textsOf(request, call.args);
  const source = reuse ?? (await latest(call, value));
  const start = (executionId: string | undefined): Promise<CallToolResult> => {
    if (executionId === undefined) return runTool(call, "workflow", value, new Map([["inputs", NO_INPUTS], ...texts]));
    const rerun = executions.Rerun.fromPartial({ executionId, nodes: again ? [node] : [], otherGraph: true });
    return runTool(call, "workflow", value, texts, { rerun });
  };
  try {
    return await withOutputs(call, await start(source), node);
  } catch (error) {
    const isUnusable = error instanceof DomainError && UNUSABLE.has(error.reason);
    if (!isUnusable || source === undefined || reuse !== undefined) throw error;
    return withOutputs(call, await start(undefined), node);
  }
};

export const RUN_NODE: Tool = {
  name: "run_node",
  description:
    "Runs one node of your draft and the nodes that it depends on, which costs credits, and returns the node's outputs. Calls whose settings and inputs haven't changed since the latest run are reused, free of charge.",
  inputSchema: objectSchema(runNodeArguments),
  outputSchema: objectSchema(
    outcomeSchema().extend({
      outputs: z.looseObject({}).optional().meta({ description: "The node's outputs by port, if your key has `execution:read`" }),
      reusedFrom: z.string().optional().meta({ description: "The execution that made the call, if the node's output was reused" }),
    }),
    "output",
  ),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  call: runNode,
};
