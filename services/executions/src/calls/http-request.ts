import { DomainError, HTTP_METHODS, LIMITS, mediaFamily, type MediaValue } from "@nodeloom/kernel";
import { hasInfinite, parseJsonText, type HttpCall } from "@nodeloom/kernel/graph";
import { EgressError, retry, type EgressClient, type EgressRequest, type EgressStream } from "@nodeloom/platform";
import type { OwnFiles } from "./own-files";
import type { HttpNodeCall, HttpResult } from "../run/calls";
import { TIMING } from "../run/timing";
import { ACCEPT_ENCODING, discard, inflatedBody, type KeepAnswer, openBody, textOf } from "./answers";
import { final, inputFailed, providerFailed } from "./failures";
import { headerKey, pointer } from "@nodeloom/providers";

/** Sends the request of an HTTP node, and retries it if a retry is safe. */

const METHODS: ReadonlySet<string> = new Set(HTTP_METHODS);
/** Headers that the client sets itself or that authors can't set. */
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
/** Methods without effects. They can be repeated. */
const ASKING = new Set(["GET", "HEAD"]);
/** Pauses in milliseconds before retries of safe requests. */
const PAUSES_MS = [250, 1_000];

/** Number of bytes that are checked if a response is too long for a text. */
const HEAD_BYTES = 4_096;
const MOST_CHAR_BYTES = 4;

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** JSON.stringify would write a number beyond the range of a double as null. */
const LARGE_NUMBER = "the response has a number that is too large";

const valueOf = (text: string, contentType: string): unknown => {
  if (!/\bjson\b/i.test(contentType)) return text;
  const parsed = parseJsonText(text);
  if (parsed && hasInfinite(parsed.value)) throw providerFailed(LARGE_NUMBER);
  return parsed ? parsed.value : text;
};

/** Images in XML. They stay texts, which later nodes can read. */
const DRAWN = /\+xml\b/i;
const namesFile = (contentType: string): boolean => mediaFamily(contentType) !== undefined && !DRAWN.test(contentType);

/** True if the first bytes look like text. The bytes may end inside a character. */
const beginsAsText = (start: Buffer, contentType: string): boolean =>
  Array.from({ length: MOST_CHAR_BYTES }, (_, cut) => HEAD_BYTES - cut).some(
    (end) => textOf(start.subarray(0, end), contentType) !== undefined,
  );

type Content = Pick<HttpResult, "body" | "file">;

/**
 * Returns the content of a response: text, JSON or a stored file. The content type limits the possible kinds, and the bytes decide.
 * @throws EXECUTION_FAILED if the content is of another kind or too large
 */
const contentOf = async (
  response: EgressStream,
  store: (bytes: AsyncIterable<Uint8Array>) => Promise<MediaValue | undefined>,
): Promise<Content> => {
  const contentType = response.headers["content-type"] ?? "";
  const { start, isWhole, stream, close } = await openBody(inflatedBody(response), LIMITS.textValueBytes);
  const text = isWhole ? textOf(start, contentType) : undefined;
  const isText = isWhole ? text !== undefined : beginsAsText(start, contentType);
  const asText = (): Content => {
    if (text !== undefined) return { body: valueOf(text, contentType) };
    if (isText) throw providerFailed(`the answer is larger than ${LIMITS.textValueBytes} bytes`);
    const [type = ""] = contentType.split(";");
    const called = type.trim() === "" ? "" : ` (${type.trim().slice(0, 100)})`;
    throw providerFailed(`the answer is neither text nor a picture, video, sound or 3D model${called}`);
  };
  try {
    if (start.length === 0 || (isText && !namesFile(contentType))) return asText();
    const file = await store(stream);
    return file ? { body: null, file } : asText();
  } finally {
    // Storage may still be waiting for the next bytes.
    close().catch(() => undefined);
  }
};

/** Redacts a text. Truncate only after redaction: a truncated secret would no longer match, and its first part would stay visible. */
type Redact = (text: string) => string;
const asIs: Redact = (text) => text;

const headersOf = (call: HttpCall, redact: Redact): Record<string, string> => {
  const headers = Object.entries(call.headers).filter(([name]) => !RESERVED_HEADERS.has(name.toLowerCase()));
  for (const [name, value] of headers) {
    const shownName = redact(name).slice(0, SHOWN_NAME_CHARS);
    if (!HEADER_NAME.test(name)) throw inputFailed(`${JSON.stringify(shownName)} is not a header's name`);
    if (!HEADER_VALUE.test(value)) throw inputFailed(`the header ${shownName} has line breaks or characters that a header can't carry`);
  }
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
};

/** Returns a response with redacted headers, which errors can quote. */
const quotable = (response: EgressStream, redact: Redact): EgressStream => ({
  ...response,
  headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, redact(value)])),
});

type NodeRequest = EgressRequest & { method: string };

const requestOf = (call: HttpCall, key: string, signal: AbortSignal, redact: Redact): NodeRequest => {
  const headers = headersOf(call, redact);
  const isText = typeof call.body === "string";
  const body = call.body === undefined ? undefined : isText ? (call.body as string) : JSON.stringify(call.body);
  if (body !== undefined && headers["content-type"] === undefined)
    headers["content-type"] = isText && !call.isJson ? "text/plain; charset=utf-8" : "application/json";
  headers["accept-encoding"] ??= ACCEPT_ENCODING;
  if (!ASKING.has(call.method)) headers["idempotency-key"] ??= headerKey(key);
  const { url, method } = call;
  const bounds = { timeoutMs: TIMING.httpRequest / 2, maxBytes: LIMITS.mediaBytes, signal };
  return { url, method, headers, ...bounds, ...(body === undefined ? {} : { body }) };
};

/** Retries an exchange if the server wasn't reached or the method is safe. */
const repeated = <T>(exchange: () => Promise<T>, request: NodeRequest): Promise<T> =>
  retry(exchange, {
    pausesMs: PAUSES_MS,
    shouldRetry: (error) =>
      error instanceof EgressError && error.code === "UNREACHABLE" && (ASKING.has(request.method) || !error.mayHaveBeenSent),
    signal: request.signal,
  });

export interface HttpRequestOptions {
  egress: EgressClient;
  keepAnswer: KeepAnswer;
  ownFiles?: OwnFiles | undefined;
}

/** A request with effects isn't repeated after its response has begun. */
const withoutRepeat = (error: unknown, method: string, signal: AbortSignal): unknown => {
  if (ASKING.has(method) || signal.aborted || error instanceof EgressError || !(error instanceof Error)) return error;
  return error instanceof DomainError && error.kind === "failed"
    ? error
    : final("EXECUTION_FAILED", `its answer could not be stored: ${error.message}`);
};

export type HttpRequest = ReturnType<typeof createHttpRequest>;

/**
 * Sends one request of an http-request node through the guarded client. Every status is a result; an unreachable or forbidden address is an
 * error. Requests with effects contain the key of the call, so that the server can recognize a repetition.
 * @param redact removes the secrets of the request from texts that an error quotes
 */
export const createHttpRequest =
  ({ egress, keepAnswer, ownFiles }: HttpRequestOptions) =>
  async (nodeCall: HttpNodeCall, signal: AbortSignal, redact = asIs): Promise<HttpResult> => {
    const { call, key } = nodeCall;
    if (!METHODS.has(call.method)) throw inputFailed(`${call.method} is not a method this node can use`);
    const { url, headers, body } = call;
    const sign = await ownFiles?.([url, headers, body], nodeCall.userId, "the request");
    const signedCall = sign ? { ...call, ...sign({ url, headers, ...(body === undefined ? {} : { body }) }) } : call;
    const request = requestOf(signedCall, key, signal, redact);
    const once = async (): Promise<HttpResult> => {
      const response = quotable(await egress.stream(request), redact);
      const { status } = response;
      if (call.failOnStatus && !isSuccess(status)) {
        await discard(response.body);
        throw providerFailed(`the address answered with status ${status}`);
      }
      try {
        const content = await contentOf(response, (bytes) => keepAnswer(nodeCall, bytes, signal));
        return { status, ...content };
      } catch (error) {
        throw withoutRepeat(error, call.method, signal);
      }
    };
    try {
      const { status, body, file } = await repeated(once, request);
      const extracted = call.extract === undefined ? body : (pointer(body, call.extract) ?? null);
      return { status, body: extracted, ...(file ? { file } : {}) };
    } catch (error) {
      if (error instanceof EgressError) throw providerFailed(error.message);
      throw error;
    }
  };
