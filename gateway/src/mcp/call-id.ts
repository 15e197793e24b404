import { randomUUID } from "node:crypto";
import { fingerprintOf, keyedId, resourceOf } from "../edge/lease";
import type { McpContext } from "./calls";

const SESSION = "mcp-session-id";
const PATH = "/mcp";

/** The session that a request names; undefined for clients without one. */
export const sessionOf = ({ request }: Pick<McpContext, "request">): string | undefined => {
  const value = request.headers[SESSION];
  return typeof value === "string" ? value : undefined;
};

/** The id of what a call of a session starts. */
export const idInSession = ({ caller }: McpContext, sessionId: string, requestId: string | number): string =>
  keyedId(caller.user.id, resourceOf("POST", PATH, { sessionId }), JSON.stringify(requestId));

/** What names a call: the same for one that is sent again in its session, where its arguments must be the same, too. */
export const callId = (context: McpContext, requestId: string | number, tool: string): { executionId: string; fingerprint: string } => {
  const sessionId = sessionOf(context);
  if (sessionId === undefined) return { executionId: randomUUID(), fingerprint: "" };
  const sent = context.members().get("params") ?? "";
  return { executionId: idInSession(context, sessionId, requestId), fingerprint: fingerprintOf(tool, sent) };
};
