import type { Request, Response } from "express";
import type { Gateway } from "./gateway";
import { errorReply, isExpected } from "../http/errors";
import { hasBody } from "../http/body/head";
import type { RenderedReply } from "./idempotency";
import { toJson } from "../http/json";
import { DRAIN_BYTES, DRAIN_MS, SMALL_BODY_BYTES } from "../http/limits";
import { PROTOCOLS, type Protocol } from "../http/protocols";
import { rateLimitHeaders } from "./rate/rate";
import type { Reply } from "./route";

const FIRST_ERROR = 400;
const REQUEST_TIMEOUT = 408;
const JSON_CONTENT_TYPE = "application/json; charset=utf-8";

export const render = ({ status, body, headers = {} }: Reply): RenderedReply => ({
  status,
  headers: body === undefined ? headers : { "Content-Type": JSON_CONTENT_TYPE, ...headers },
  text: body === undefined ? "" : toJson(body),
});

/** Renders an error; unexpected ones are logged. */
export const renderError = (error: unknown, gateway: Pick<Gateway, "logger">, protocol: Protocol = "plain"): RenderedReply => {
  if (!isExpected(error)) gateway.logger.error({ err: error }, "request failed");
  const { status, headers, body } = PROTOCOLS[protocol].asError(errorReply(error));
  return render({ status, body, headers: { ...headers, ...rateLimitHeaders(error) } });
};

/** Reads and discards the rest of a request, up to bounds of size and time. */
const drain = (request: Request): Promise<void> =>
  new Promise((resolve) => {
    let bytes = 0;
    const finish = (): void => {
      clearTimeout(timer);
      request.off("data", count).off("end", finish).off("close", finish).off("error", finish);
      if (!request.complete) request.pause();
      resolve();
    };
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > DRAIN_BYTES) finish();
    };
    const timer = setTimeout(finish, DRAIN_MS).unref();
    request.on("data", count).once("end", finish).once("close", finish).once("error", finish);
  });

const closeUnlessRead = async (request: Request, response: Response): Promise<void> => {
  await drain(request);
  if (!response.writableEnded) response.end();
  if (!request.complete) request.socket.destroySoon();
};

/**
 * Answers before the whole body has arrived. Clients often send all of it before they read, and would see a broken connection, so the rest
 * is read and discarded within bounds. If little is left, the connection stays open.
 */
const sendEarly = (request: Request, response: Response, text: string): void => {
  const isSmall = response.statusCode < FIRST_ERROR || Number(request.headers["content-length"] ?? Infinity) <= SMALL_BODY_BYTES;
  // A client that sent `Expect` can withhold its body, and a body that timed out isn't awaited again.
  const mayNotCome = request.headers.expect !== undefined || response.statusCode === REQUEST_TIMEOUT;
  if (isSmall && !mayNotCome) {
    response.end(text);
  } else {
    response.setHeader("Connection", "close");
    if (mayNotCome) return void response.end(text);
    response.flushHeaders();
    if (text !== "") response.write(text);
  }
  void closeUnlessRead(request, response);
};

/** Sends a reply. Headers already set (request id, limits) stay. */
export const send = (response: Response, { status, headers, text }: RenderedReply): void => {
  if (response.headersSent) return void response.end();
  const request = response.req;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (text !== "") response.setHeader("Content-Length", Buffer.byteLength(text));
  if (request.complete || !hasBody(request)) response.end(text);
  else sendEarly(request, response, text);
};
