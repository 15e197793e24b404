import { isRecord } from "@nodeloom/kernel/graph";
import { api } from "../../api/client";
import { ASSISTANT_ANSWERS } from "../../messages/editor/assistant-prompt";
import type { McpTools, ToolHead } from "./tools";

/** The installation's own MCP tools, called with the session of the page. */

const VERSION = "2026-07-28";
const META = "io.modelcontextprotocol/";
const CLIENT = { name: "nodeloom-console", version: "1" };

const META_TEXT = JSON.stringify({
  [`${META}protocolVersion`]: VERSION,
  [`${META}clientInfo`]: CLIENT,
  [`${META}clientCapabilities`]: {},
});

const objectText = (texts: ReadonlyMap<string, string>): string =>
  `{${[...texts].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;

/** Sends a message as text, so that graphs keep their form. @throws Error for errors of the protocol, NodeloomError without an answer */
const send = async (method: string, params: ReadonlyMap<string, string>, name: string | undefined, signal: AbortSignal) => {
  const paramsText = objectText(new Map([...params, ["_meta", META_TEXT]]));
  const text = `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${paramsText}}`;
  const headers = { "mcp-protocol-version": VERSION, "mcp-method": method, ...(name === undefined ? {} : { "mcp-name": name }) };
  const { body } = await api.requestText("mcp", { text, headers, signal });
  const reply: unknown = JSON.parse(body);
  if (isRecord(reply) && isRecord(reply.result)) return reply.result;
  const error = isRecord(reply) && isRecord(reply.error) ? reply.error.message : undefined;
  throw new Error(typeof error === "string" ? error : ASSISTANT_ANSWERS.noAnswer);
};

const textOf = (content: unknown): string =>
  Array.isArray(content)
    ? content.flatMap((block: unknown) => (isRecord(block) && typeof block.text === "string" ? [block.text] : [])).join("\n")
    : "";

export const mcpTools: McpTools = {
  list: async (signal) => {
    const { tools } = await send("tools/list", new Map(), undefined, signal);
    return (Array.isArray(tools) ? tools : []) as ToolHead[];
  },
  call: async (name, args, signal) => {
    const params = new Map([
      ["name", JSON.stringify(name)],
      ["arguments", objectText(args)],
    ]);
    const { content, structuredContent, isError = false } = await send("tools/call", params, name, signal);
    return { text: textOf(content), isError: isError === true, structured: isRecord(structuredContent) ? structuredContent : {} };
  },
};
