import { ProtocolError, ProtocolErrorCode, Server, type CallToolResult, type ServerContext } from "@modelcontextprotocol/server";
import { isSlug } from "@nodeloom/kernel";
import { members } from "@nodeloom/kernel/json-text";
import { PRODUCT_VERSION } from "@nodeloom/platform";
import { isExpected } from "../http/errors";
import type { McpContext } from "./calls";
import { failed, MESSAGE_BYTES } from "./contents";
import { callId } from "./call-id";
import { fixturesIf } from "./fixtures";
import { addGuides } from "./guides/handlers";
import type { Report } from "./progress";
import { BUILT_IN } from "./tools/built-in";
import { findTool, modelOf, modelTools, workflowTools } from "./tools/own";
import type { Tool, ToolCall, ToolHead } from "./tools/tool";

/** Workflow tools per page of a list. */
const PAGE_TOOLS = 50;
const MAX_TOOL_BYTES = 200_000;
const INSTRUCTIONS =
  "Nodeloom runs AI media pipelines: workflows are graphs of nodes, and runs cost credits. `quote` says what a run costs before it begins; give `maxCredits` to bound it. " +
  "To build a workflow, read the kinds with `list_node_kinds`, change the draft with `patch_workflow` until it is valid, try nodes with `run_node`, and `publish` it. " +
  "A run that takes longer than the answer may goes on: ask `get_execution` with its `executionId`, and `waitSeconds` to wait for it. Results name files by URL.";

const headOf = ({ call: _, cursor: __, ...head }: Tool): ToolHead => head;

const fixturesOf = ({ gateway }: McpContext): readonly Tool[] => fixturesIf(gateway.mcp.hasFixtures).tools;

/** A schema can be as large as a workflow. Tools whose schema would fill a page are listed without it. */
const listed = (head: ToolHead): ToolHead =>
  sizeOf(head) <= MAX_TOOL_BYTES ? head : { ...head, inputSchema: { type: "object" }, outputSchema: { type: "object" } };

const sizeOf = (head: ToolHead): number => Buffer.byteLength(JSON.stringify(head));

/** Number of tools, from the first, that fit into a message. */
const fitting = (heads: readonly ToolHead[]): number => {
  let remainingBytes = MESSAGE_BYTES;
  const end = heads.findIndex((head) => (remainingBytes -= sizeOf(head)) < 0);
  return end === -1 ? heads.length : end;
};

/**
 * A page of tools: the platform's own and models first, then workflows. The cursor is the id of the last model or workflow on the previous
 * page.
 * @throws ProtocolError for an unknown cursor
 */
const list = async (context: McpContext, cursor = "") => {
  const afterModel = modelOf(cursor);
  if (cursor !== "" && !isSlug(afterModel ?? cursor))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "the cursor doesn't belong to this list");
  const isBehindModels = cursor !== "" && afterModel === undefined;
  const models = isBehindModels ? [] : await modelTools(context);
  const rest = afterModel === undefined ? models : models.slice(models.findIndex(({ name }) => name === cursor) + 1);
  const { tools, next } = await workflowTools(context, isBehindModels ? cursor : "", PAGE_TOOLS);
  const first = cursor === "" ? [...BUILT_IN, ...fixturesOf(context)] : [];
  const all = [...first, ...rest, ...tools];
  const heads = all.map((tool) => listed(headOf(tool)));
  const count = fitting(heads);
  const nextCursor = count === all.length ? next : all[count - 1]!.cursor;
  return { tools: heads.slice(0, count), ...(nextCursor === undefined ? {} : { nextCursor }) };
};

/** Raw arguments of a tools/call. */
const argumentsOf = (context: McpContext): ReadonlyMap<string, string> => {
  const params = context.members().get("params");
  const argumentsText = params === undefined ? undefined : members(params).get("arguments");
  return argumentsText === undefined ? new Map() : members(argumentsText);
};

const reportTo = ({ mcpReq }: ServerContext): Report | undefined => {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (step) => void mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...step } }).catch(() => undefined);
};

const call = async (
  context: McpContext,
  name: string,
  from: Pick<ToolCall, "report" | "signal" | "isCalledOffByLeaving"> & { id: string | number },
): Promise<CallToolResult> => {
  const tool = fixturesOf(context).find((fixture) => fixture.name === name) ?? (await findTool(context, name));
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}`);
  const args = argumentsOf(context);
  const { id, ...following } = from;
  return tool.call({ context, args, ...callId(context, id, name), ...following });
};

/** The server of one request. @param era revision of the client: from 2026-07-28 on, disconnecting cancels its calls */
export const createMcpServer = (context: McpContext, era: "legacy" | "modern"): Server => {
  const server = new Server(
    { name: "nodeloom", title: "Nodeloom", version: PRODUCT_VERSION },
    { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} }, instructions: INSTRUCTIONS },
  );
  addGuides(server, context);
  server.setRequestHandler("tools/list", ({ params }) => list(context, params?.cursor));
  server.setRequestHandler("tools/call", async ({ params }, at) => {
    const { id, signal } = at.mcpReq;
    try {
      return await call(context, params.name, { id, report: reportTo(at), signal, isCalledOffByLeaving: era === "modern" });
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      if (!isExpected(error)) context.logger.error({ err: error }, "a tool failed");
      return failed(error);
    }
  });
  return server;
};
