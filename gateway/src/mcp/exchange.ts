import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { McpContext } from "./calls";
import { createMcpServer } from "./server";

/** One HTTP exchange through the official SDK. The server lives as long as the request, with or without sessions. */

/** Headers that describe a message. */
const PASSED = /^(?:content-type$|mcp-)/;
/** Clients must accept both, because the answer can become a stream. */
const ACCEPTED = "application/json, text/event-stream";
/** Clients can't subscribe, because resources don't change. */
const SUBSCRIPTIONS = 0;

const requestOf = ({ gateway, request, response }: McpContext): Request => {
  const disconnect = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) disconnect.abort();
  });
  const passed = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    PASSED.test(name) && value !== undefined ? [[name, String(value)]] : [],
  );
  const headers = new Headers([...passed, ["accept", ACCEPTED]]);
  return new Request(`${gateway.publicBaseUrl}/mcp`, { method: "POST", headers, signal: disconnect.signal });
};

const EVENT_STREAM = /^text\/event-stream\b/i;
const DATA = "data: ";

/** True if the client sent a progress token. */
const followsProgress = ({ body }: McpContext): boolean => {
  const { params } = body as { params?: { _meta?: { progressToken?: unknown } } };
  return params?._meta?.progressToken !== undefined;
};

/** The only message of a stream, as JSON. */
const withoutStream = async (answer: Response): Promise<Response> => {
  const lines = (await answer.text()).split("\n").filter((line) => line.startsWith(`${DATA}{`));
  const headers = new Headers(answer.headers);
  headers.set("content-type", "application/json");
  return new Response(lines.at(-1)?.slice(DATA.length) ?? "", { status: answer.status, headers });
};

/**
 * Yields a body line by line. Each message is one line.
 * @param leave signs the addresses in a line
 */
async function* linesOf(bytes: AsyncIterable<Uint8Array>, leave: (line: string) => Promise<string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield `${await leave(line)}\n`;
  }
  if (rest !== "") yield await leave(rest);
}

/** Writes the SDK's answer; a disconnecting client ends it. */
const write = async (answer: Response, { response, gateway, caller }: McpContext): Promise<void> => {
  response.status(answer.status);
  for (const [name, value] of answer.headers) if (name !== "connection") response.setHeader(name, value);
  if (!answer.body) return void response.end();
  response.flushHeaders();
  const lines = linesOf(Readable.fromWeb(answer.body as ReadableStream), (line) => gateway.mediaUrls.leave(line, caller));
  await pipeline(lines, response).catch((error: unknown) => {
    if (!response.destroyed) throw error;
  });
};

/** Answers the message in a request. @param headers headers of a successful answer */
export const exchange = async (context: McpContext, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
  const { body, response, logger } = context;
  const handler = createMcpHandler(({ era }) => createMcpServer(context, era), {
    responseMode: "sse",
    maxSubscriptions: SUBSCRIPTIONS,
    onerror: (error) => logger.debug({ reason: error.message }, "an MCP message was refused"),
  });
  const answer = await handler.fetch(requestOf(context), { parsedBody: body });
  const isStream = EVENT_STREAM.test(answer.headers.get("content-type") ?? "");
  if (answer.ok) for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (followsProgress(context) || !isStream) return write(answer, context);
  const whole = await withoutStream(answer).catch((error: unknown) => {
    if (!response.destroyed) throw error;
    return undefined;
  });
  if (whole) await write(whole, context);
};
