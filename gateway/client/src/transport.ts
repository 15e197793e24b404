import { OPERATIONS, type Operations } from "./api-types";
import type { NodeloomError } from "./errors";
import { errorOf, isRedirect, redirected, unreachable, withoutQuery } from "./failures";
import { createPacing } from "./pacing";
import { backOffMs, retryAfterMs } from "./pauses";
import { headersOf, isRepeatable, parse, urlOf, type Operation, type OperationId, type Parts, type RequestOptions } from "./request";
import { sleep } from "./sleep";
import { createTokens, type TokenProvider } from "./tokens";

export type { OperationId, RequestOptions };

/** Inputs of an operation: `params`, `query` and `body` if it has them. */
export type RequestOf<O extends OperationId> = Omit<Operations[O], "response"> & RequestOptions;
export type ResponseOf<O extends OperationId> = Operations[O]["response"];

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

export interface TransportOptions {
  /** Public address of the service, for example `https://nodeloom.example.com`. */
  baseUrl: string;
  /** Without a key only public operations work. */
  apiKey?: string | undefined;
  /**
   * For pages of other sites, instead of a key: returns the token of an app's visitor, which can run that app and read the visitor's own
   * executions. It is called once, and again when the service rejects the token, which happens after ten minutes.
   */
  token?: TokenProvider | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  /** Number of retries after 429, 503 or no response. */
  maxRetries?: number | undefined;
  /** How long a run waits for a place while the queue is full, in milliseconds; an hour by default, and 0 for no wait. */
  placeTimeoutMs?: number | undefined;
  /**
   * Longest wait in milliseconds for a window or Retry-After; 120,000 by default. If the wait would be longer, the response is returned.
   */
  maxPauseMs?: number | undefined;
  /** Called before a request is sent again. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Called after each attempt at a request, for logs. */
  onResponse?: ((attempt: SentRequest) => void) | undefined;
}

/** One attempt at a request. It contains neither the key nor the query. */
export interface SentRequest {
  operation: OperationId;
  method: string;
  url: string;
  /** 0 without a response. */
  status: number;
  code: string | undefined;
  requestId: string | undefined;
  ms: number;
}

/** An attempt before a retry. */
export interface Retry extends SentRequest {
  /** Attempts so far. */
  attempt: number;
  pauseMs: number;
}

export interface Transport {
  /** Sends one request with retries. @throws NodeloomError; the reason of `signal` */
  send<O extends OperationId>(operation: O, request: RequestOf<O>): Promise<Answer<ResponseOf<O>>>;
  /** Like `send`, with both bodies as text, so that JSON keeps its form. */
  sendText(operation: OperationId, request: TextRequest): Promise<Answer<string>>;
  /** Like `send`, for a streamed response; its body is null if there is none. */
  open<O extends OperationId>(operation: O, request: RequestOf<O>): Promise<Answer<ReadableStream<Uint8Array> | null>>;
}

export interface TextRequest extends RequestOptions {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  /** JSON, sent unchanged. */
  text?: string;
}

const MS = 1_000;
const DEFAULT_RETRIES = 5;
const DEFAULT_MAX_PAUSE_MS = 120_000;
/** How long a retry can find the first attempt still in progress; longer than any run's wait. */
const IN_PROGRESS_MS = 150_000;
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
const UNAUTHENTICATED = 401;
const CONFLICT = 409;
const IN_PROGRESS = "IDEMPOTENCY_IN_PROGRESS";
const NO_PLACE = "CONCURRENCY_LIMIT_EXCEEDED";
const PLACE_TIMEOUT_MS = 60 * 60 * MS;
const NO_QUEUE = /(?:^|[,\s])no-queue(?:$|[,;\s])/i;
/** The time at which a place becomes free is unknown; polling less often has no benefit. */
const MAX_PLACE_PAUSE_MS = 10_000;

type Attempt = Answer<unknown> | { failure: NodeloomError; status: number; headers: Headers };

const outcomeOf = (answer: Attempt): Pick<SentRequest, "status" | "code" | "requestId"> => ({
  status: answer.status,
  code: "failure" in answer ? answer.failure.code : undefined,
  requestId: answer.headers.get("x-request-id") ?? undefined,
});

class JsonText {
  constructor(readonly text: string) {}
}

type Read = (response: Response) => Promise<unknown>;
const whole: Read = async (response) => parse(await response.text(), response.headers);
const asText: Read = (response) => response.text();
const asStream: Read = (response) => Promise.resolve(response.body);

export const createTransport = (options: TransportOptions): Transport => {
  const { baseUrl, apiKey, fetch = globalThis.fetch, maxRetries = DEFAULT_RETRIES, placeTimeoutMs = PLACE_TIMEOUT_MS } = options;
  const { maxPauseMs = DEFAULT_MAX_PAUSE_MS } = options;
  const tokens = options.token === undefined ? undefined : createTokens(options.token);
  const pacing = createPacing(maxPauseMs);

  const attempt = async (url: string, init: RequestInit, readBody: Read): Promise<Attempt> => {
    try {
      const response = await fetch(url, init);
      const { status, headers } = response;
      if (response.ok) return { status, headers, body: await readBody(response) };
      return { failure: errorOf(status, headers, await whole(response)), status, headers };
    } catch (error) {
      init.signal?.throwIfAborted();
      if (isRedirect(error)) throw redirected(error);
      return { failure: unreachable(error, withoutQuery(url)), status: 0, headers: new Headers() };
    }
  };

  /** Pause before a retry; undefined if the request must not or need not be repeated. */
  const pauseMs = ({ status, headers }: Attempt, retries: number, repeatable: boolean): number | undefined => {
    // After 429 nothing was done; after other statuses that is unknown.
    const mayRepeat = status === TOO_MANY_REQUESTS || ((status === UNAVAILABLE || status === 0) && repeatable);
    if (!mayRepeat || retries >= maxRetries) return undefined;
    const retryMs = retryAfterMs(headers) ?? backOffMs(retries);
    return retryMs > maxPauseMs ? undefined : retryMs;
  };

  const perform = async (id: OperationId, parts: RequestOptions & Parts, readBody: Read): Promise<Answer<unknown>> => {
    const operation: Operation = OPERATIONS[id];
    const { signal, body } = parts;
    const headers = headersOf(apiKey, operation, parts);
    const isJson = operation.contentType === "application/json" && body !== undefined && !(body instanceof JsonText);
    const content = isJson ? JSON.stringify(body) : body instanceof JsonText ? body.text : body;
    // fetch would send x-api-key to any host that a redirect names.
    const init: RequestInit = { method: operation.method, headers, body: content as RequestInit["body"], signal, redirect: "error" };
    const url = urlOf(baseUrl, operation, parts);
    // Polls are limited per execution, everything else per route.
    const bucket = operation.path.startsWith("/api/executions/{id}") ? `${id} ${parts.params?.id ?? ""}` : id;
    const repeatable = isRepeatable(id, operation, headers);
    const giveUpAt = Date.now() + IN_PROGRESS_MS;
    // With `no-queue`, the caller gets the error at once.
    const placeAt = Date.now() + (NO_QUEUE.test(headers.get("prefer") ?? "") ? 0 : placeTimeoutMs);
    for (let retries = 0, attempts = 0, isRenewed = false; ;) {
      await pacing.ready(bucket, signal);
      signal?.throwIfAborted();
      const token = await tokens?.current();
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
      const sentAt = Date.now();
      const answer = await attempt(url, init, readBody);
      attempts += 1;
      pacing.learn(bucket, answer.headers);
      const report = { operation: id, method: operation.method, url: withoutQuery(url), ...outcomeOf(answer), ms: Date.now() - sentAt };
      options.onResponse?.(report);
      const again = (pause: number): Promise<void> => {
        options.onRetry?.({ ...report, attempt: attempts, pauseMs: pause });
        return sleep(pause, signal);
      };
      if (!("failure" in answer)) return answer;
      if (answer.status === UNAUTHENTICATED && token !== undefined && !isRenewed) {
        isRenewed = true;
        await tokens?.refused(token);
        continue;
      }
      if (answer.status === CONFLICT && answer.failure.code === IN_PROGRESS && Date.now() < giveUpAt) {
        await again(retryAfterMs(answer.headers) ?? MS);
        continue;
      }
      if (answer.status === TOO_MANY_REQUESTS && answer.failure.code === NO_PLACE) {
        const pause = Math.min(retryAfterMs(answer.headers) ?? backOffMs(retries), MAX_PLACE_PAUSE_MS);
        if (Date.now() + pause > placeAt) throw answer.failure;
        await again(pause);
        continue;
      }
      const pause = pauseMs(answer, retries, repeatable);
      if (pause === undefined) throw answer.failure;
      retries += 1;
      await again(pause);
    }
  };

  return {
    send: async <O extends OperationId>(id: O, request: RequestOf<O>) => (await perform(id, request, whole)) as Answer<ResponseOf<O>>,
    sendText: async (id, { text, ...request }) => {
      const parts = text === undefined ? request : { ...request, body: new JsonText(text) };
      return (await perform(id, parts, asText)) as Answer<string>;
    },
    open: async (id, request) => {
      const headers = { accept: "text/event-stream", ...request.headers };
      return (await perform(id, { ...request, headers }, asStream)) as Answer<ReadableStream<Uint8Array> | null>;
    },
  };
};
