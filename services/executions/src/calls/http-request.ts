import { type DomainError, HTTP_METHODS, LIMITS } from "@nodeloom/kernel";
import { hasInfinite, parseJsonText, type HttpCall } from "@nodeloom/kernel/graph";
import { EgressError, retry, type EgressClient, type EgressRequest, type EgressResponse } from "@nodeloom/platform";
import { pointer } from "./providers/pointer";
import { headerKey } from "./providers/transport";
import { TIMING } from "../run/timing";
import { ACCEPT_ENCODING, textOf } from "./answer-text";
import { final } from "./failures";

/** One call of an HTTP node, repeated where that does no harm. */

const METHODS: ReadonlySet<string> = new Set(HTTP_METHODS);
/** Set by the client itself, or not the author's to set. */
const RESERVED_HEADERS = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "expect",
  "keep-alive",
  "upgrade",
  "te",
  "trailer",
]);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const SHOWN_NAME_CHARS = 100;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Methods that only ask: repeating them does no harm. */
const ASKING = new Set(["GET", "HEAD"]);
/** Pauses before a call is tried again that can be repeated safely. */
const PAUSES_MS = [250, 1_000];

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
const failed = (message: string): DomainError => final("EXECUTION_FAILED", message);

/** JSON takes numbers of any size, and what no double holds would be null when it is written again. */
const LARGE_NUMBER = "the answer has a number that is too large";

const contentOf = async (response: EgressResponse): Promise<unknown> => {
  const text = await textOf(response);
  if (!/\bjson\b/i.test(response.headers["content-type"] ?? "")) return text;
  const parsed = parseJsonText(text);
  if (parsed && hasInfinite(parsed.value)) throw failed(LARGE_NUMBER);
  return parsed ? parsed.value : text;
};

/** Makes a text fit to be shown. A text is cut after that: of a secret that was cut before, a part would be left. */
type Redact = (text: string) => string;
const asIs: Redact = (text) => text;

const headersOf = (call: HttpCall, redact: Redact): Record<string, string> => {
  const headers = Object.entries(call.headers).filter(([name]) => !RESERVED_HEADERS.has(name.toLowerCase()));
  for (const [name, value] of headers) {
    const shown = redact(name).slice(0, SHOWN_NAME_CHARS);
    if (!HEADER_NAME.test(name)) throw failed(`${JSON.stringify(shown)} is not a header's name`);
    if (!HEADER_VALUE.test(value)) throw failed(`the header ${shown} has line breaks or characters that a header can't carry`);
  }
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
};

/** An answer whose headers can be quoted. */
const quotable = (response: EgressResponse, redact: Redact): EgressResponse => ({
  ...response,
  headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, redact(value)])),
});

/** An exchange that is tried again where the other side was not reached and nothing can have happened twice. */
const exchange = (egress: EgressClient, request: EgressRequest & { method: string }): Promise<EgressResponse> =>
  retry(() => egress.request(request), {
    pausesMs: PAUSES_MS,
    shouldRetry: (error) =>
      error instanceof EgressError && error.code === "UNREACHABLE" && (ASKING.has(request.method) || !error.mayHaveBeenSent),
    signal: request.signal,
  });

export type HttpRequest = ReturnType<typeof createHttpRequest>;

/**
 * One call of an http-request node through the guarded client. Any status is an answer; an unreachable or refused
 * address is an error.
 * @param idempotencyKey sent with writes, so that a repeated attempt can be recognised.
 * @param redact takes the secrets of the request out of what an error quotes
 */
export const createHttpRequest =
  (egress: EgressClient) =>
  async (call: HttpCall, idempotencyKey: string, signal: AbortSignal, redact = asIs): Promise<{ status: number; body: unknown }> => {
    if (!METHODS.has(call.method)) throw failed(`${call.method} is not a method this node can use`);
    const headers = headersOf(call, redact);
    const isText = typeof call.body === "string";
    const body = call.body === undefined ? undefined : isText ? (call.body as string) : JSON.stringify(call.body);
    if (body !== undefined && headers["content-type"] === undefined)
      headers["content-type"] = isText && !call.isJson ? "text/plain; charset=utf-8" : "application/json";
    headers["accept-encoding"] ??= ACCEPT_ENCODING;
    if (!ASKING.has(call.method)) headers["idempotency-key"] ??= headerKey(idempotencyKey);
    try {
      const response = await exchange(egress, {
        url: call.url,
        method: call.method,
        headers,
        timeoutMs: TIMING.httpRequest / 2,
        maxBytes: LIMITS.textValueBytes,
        signal,
        ...(body === undefined ? {} : { body }),
      });
      if (call.failOnStatus && !isSuccess(response.status)) throw failed(`the address answered with status ${response.status}`);
      const answer = await contentOf(quotable(response, redact));
      return { status: response.status, body: call.extract === undefined ? answer : (pointer(answer, call.extract) ?? null) };
    } catch (error) {
      if (error instanceof EgressError) throw failed(error.message);
      throw error;
    }
  };
