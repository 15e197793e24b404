import type { Answer } from "../../support/http";
import type { Platform, User } from "../../support/platform";

/** Messages of MCP over HTTP, one exchange each. */

export interface RpcMessage {
  jsonrpc: string;
  id?: unknown;
  method?: string;
  params?: { progress?: number; total?: number; message?: string };
  result?: Record<string, unknown> & { content?: { type: string; text?: string; [member: string]: unknown }[]; isError?: boolean };
  error?: { code: number; message: string; data?: unknown };
}

export interface Exchange {
  answer: Answer;
  /** Messages before the response. */
  notifications: RpcMessage[];
  reply: RpcMessage | undefined;
}

const messagesIn = ({ headers, text, body }: Answer): RpcMessage[] => {
  if (String(headers["content-type"]).startsWith("text/event-stream"))
    return text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice("data: ".length)) as RpcMessage] : []));
  return body === undefined ? [] : [body as unknown as RpcMessage];
};

export const MODERN_VERSION = "2026-07-28";
const META = "io.modelcontextprotocol/";

/** Members and headers with which a client of revision 2026-07-28 states its protocol. */
export const modern = (method: string, params: Record<string, unknown> = {}) => ({
  message: {
    ...{ jsonrpc: "2.0", id: 1, method },
    params: {
      ...params,
      _meta: {
        [`${META}protocolVersion`]: MODERN_VERSION,
        [`${META}clientInfo`]: { name: "test", version: "1" },
        [`${META}clientCapabilities`]: {},
        ...(params._meta as object | undefined),
      },
    },
  },
  headers: {
    "mcp-protocol-version": MODERN_VERSION,
    "mcp-method": method,
    ...(typeof params.name === "string" ? { "mcp-name": params.name } : {}),
  },
});

/** Sends messages as one user. */
export const rpcOf = (platform: Platform, user: User) => {
  const send = async (message: unknown, headers: Record<string, string> = {}, query = ""): Promise<Exchange> => {
    const answer = await platform.send(`/mcp${query}`, { json: message, headers: { authorization: `Bearer ${user.key!}`, ...headers } });
    const messages = messagesIn(answer);
    return {
      answer,
      notifications: messages.filter(({ method }) => method !== undefined),
      reply: messages.find(({ method }) => method === undefined),
    };
  };
  return {
    send,
    request: (method: string, params: object = {}, headers: Record<string, string> = {}, id: unknown = 1) =>
      send({ jsonrpc: "2.0", id, method, params }, headers),
    call: (name: string, args: object = {}, headers: Record<string, string> = {}, id: unknown = 1) =>
      send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } }, headers),
    /**
     * Opens a session like clients of earlier revisions.
     * @returns its header
     */
    open: async (): Promise<Record<string, string>> => {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
      const { answer } = await send({ jsonrpc: "2.0", id: 0, method: "initialize", params });
      return { "mcp-session-id": String(answer.headers["mcp-session-id"]) };
    },
  };
};

/** A tool's structured result. */
export const valueOf = ({ reply }: Exchange): Record<string, unknown> => {
  const { structuredContent, content } = reply!.result! as { structuredContent?: Record<string, unknown>; content: { text: string }[] };
  return structuredContent ?? (JSON.parse(content[0]!.text) as Record<string, unknown>);
};
