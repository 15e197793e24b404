import { randomUUID } from "node:crypto";
import { fingerprintOf, keyedId, resourceOf } from "../edge/lease";
import type { McpContext } from "./calls";

const SESSION = "mcp-session-id";
const PATH = "/mcp";

export const sessionOf = ({ request }: Pick<McpContext, "request">): string | undefined => {
  const value = request.headers[SESSION];
  return typeof value === "string" ? value : undefined;
};

export const idInSession = ({ caller }: McpContext, sessionId: string, requestId: string | number): string =>
  keyedId(caller.user.id, resourceOf("POST", PATH, { sessionId }), JSON.stringify(requestId));

/** Id of a call. A repetition in the same session has the same id and must have the same arguments. */
export const callId = (context: McpContext, requestId: string | number, tool: string): { executionId: string; fingerprint: string } => {
  const sessionId = sessionOf(context);
  if (sessionId === undefined) return { executionId: randomUUID(), fingerprint: "" };
  const paramsText = context.members().get("params") ?? "";
  return { executionId: idInSession(context, sessionId, requestId), fingerprint: fingerprintOf(tool, paramsText) };
};
