import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Response as ExpressResponse } from "express";
import type { McpContext } from "./calls";
import { createMcpServer } from "./server";

/** One HTTP exchange by the official SDK: a server that lives as long as the request, for clients with sessions and without. */

/** Headers that say something about a message. */
const PASSED = /^(?:content-type$|mcp-)/;
/** Clients must take both; an answer that can't be foreseen is a stream. */
const ACCEPTED = "application/json, text/event-stream";
/** Nothing changes by itself that a client could listen to. */
const SUBSCRIPTIONS = 0;

const requestOf = ({ gateway, request, response }: McpContext): Request => {
  const left = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) left.abort();
  });
  const passed = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    PASSED.test(name) && value !== undefined ? [[name, String(value)]] : [],
  );
  const headers = new Headers([...passed, ["accept", ACCEPTED]]);
  return new Request(`${gateway.publicBaseUrl}/mcp`, { method: "POST", headers, signal: left.signal });
};

/** Writes an answer of the SDK. A client that leaves ends it. */
const write = async (answer: Response, response: ExpressResponse): Promise<void> => {
  response.status(answer.status);
  for (const [name, value] of answer.headers) if (name !== "connection") response.setHeader(name, value);
  if (!answer.body) return void response.end();
  response.flushHeaders();
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response).catch((error: unknown) => {
    if (!response.destroyed) throw error;
  });
};

/** Answers the message in a request's body. @param headers of an answer that is no error */
export const exchange = async (context: McpContext, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
  const { body, response, logger } = context;
  const handler = createMcpHandler(({ era }) => createMcpServer(context, era), {
    responseMode: "sse",
    maxSubscriptions: SUBSCRIPTIONS,
    onerror: (error) => logger.debug({ reason: error.message }, "an MCP message was refused"),
  });
  const answer = await handler.fetch(requestOf(context), { parsedBody: body });
  if (answer.ok) for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  await write(answer, response);
};
