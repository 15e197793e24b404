import { DomainError, invalidRequest } from "@nodeloom/kernel";
import { z } from "zod";
import { authorize } from "../auth/caller";
import { notFound } from "../http/errors";
import { content, defineRoute, STREAMED, type Reply } from "../edge/route";
import { queryFlag } from "../http/schemas";
import { executionRoutes } from "../routes/executions/routes";
import { idInSession, sessionOf } from "./call-id";
import { callRoute, type McpContext } from "./calls";
import { exchange } from "./exchange";
import { routeNamed } from "./named";
import { jsonBody } from "../http/body/kinds";

/** Model Context Protocol over Streamable HTTP. Each request is one message, and any gateway can answer it. */

const ACCEPTED = 202;
const CANCELLED = "notifications/cancelled";
const INITIALIZE = "initialize";
const SESSION_HEADER = "Mcp-Session-Id";

const cancelRoute = routeNamed(executionRoutes, "cancelExecution");

const id = z.union([z.string(), z.number()]);
const message = z
  .looseObject({
    jsonrpc: z.literal("2.0"),
    method: z.string().optional(),
    id: id.nullish().meta({ description: "Absent from notifications" }),
    params: z.looseObject({ cursor: z.string().optional() }).optional(),
  })
  .meta({ id: "McpMessage", description: "A message of JSON-RPC 2.0, one per request" });
const answer = z
  .looseObject({ jsonrpc: z.literal("2.0"), id: id.nullish(), result: z.looseObject({}).optional(), error: z.looseObject({}).optional() })
  .meta({ id: "McpAnswer" });

type Message = z.infer<typeof message>;

const isModern = ({ params }: Message): boolean =>
  Object.keys((params?._meta ?? {}) as object).some((name) => name.startsWith("io.modelcontextprotocol/"));

/** Cancels the run that a call of the session has started or will start. A notification gets no response, so failures aren't reported. */
const callOff = async (context: McpContext, sessionId: string, requestId: unknown): Promise<void> => {
  const { gateway, caller, logger } = context;
  if (typeof requestId !== "string" && typeof requestId !== "number") return;
  const executionId = idInSession(context, sessionId, requestId);
  try {
    authorize(caller, cancelRoute.auth, String(cancelRoute.capability));
    await gateway.mcp.cancellations.note(executionId);
    await callRoute(context, cancelRoute, { params: { id: executionId } });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    logger.debug({ reason: error.reason, executionId }, "nothing was called off");
  }
};

const serve = async (context: McpContext): Promise<Reply | typeof STREAMED> => {
  const { gateway, caller } = context;
  const rpcMessage = context.body as Message;
  const sessionId = sessionOf(context);
  if (sessionId !== undefined && !gateway.mcp.sessions.isOf(caller.user.id, sessionId)) throw notFound("session");
  if (rpcMessage.method === CANCELLED && rpcMessage.id === undefined) {
    if (sessionId !== undefined) await callOff(context, sessionId, rpcMessage.params?.requestId);
    return { status: ACCEPTED };
  }
  const opens = rpcMessage.method === INITIALIZE && !isModern(rpcMessage);
  await exchange(context, opens ? { [SESSION_HEADER]: gateway.mcp.sessions.issue(caller.user.id) } : {});
  return STREAMED;
};

export const mcpRoutes = [
  defineRoute({
    method: "POST",
    path: "/mcp",
    operationId: "mcp",
    summary: "Handle a message of the Model Context Protocol",
    description:
      "Streamable HTTP without state, in the revisions from 2024-11-05 to 2026-07-28. Tools are the caller's workflows with `mcp: true`, models with `?models=true`, and tools to find, build, check, price, publish, run, follow and cancel workflows. Resources are the guides and schemas; prompts are common jobs. " +
      "A tool call also counts on the limit of the route behind it and needs that route's capability. The response is one message, or a stream of messages if the request has a `progressToken`.",
    tag: "Agents",
    auth: "any",
    role: "viewer",
    limit: "user",
    protocol: "mcp",
    query: z.strictObject({ models: queryFlag.optional().meta({ description: "Also lists the models that the caller can run as tools" }) }),
    body: jsonBody(message, {
      lossless: ["params"],
      invalid: (issues) =>
        invalidRequest(
          issues.map((issue) => (issue.path === "" ? { ...issue, message: `${issue.message}: one message of JSON-RPC 2.0` } : issue)),
        ),
    }),
    responses: { 200: content({ "application/json": answer, "text/event-stream": answer }), 202: null },
    errors: ["NOT_FOUND"],
    example: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
    handler: (context) => serve(context as McpContext),
  }),
];
