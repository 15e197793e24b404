/** egress/: the guarded client for outgoing calls, and the rules for destinations. */
import { lookup as dnsLookup } from "node:dns";
import { Readable } from "node:stream";
import type { Agent, Dispatcher } from "undici";
import { canonicalTargets, checkUrl, EgressError, egressRefusal, targetOf, type Lookup } from "./address";
import { createConnector } from "./connector";
import { ANY, guardedLookup, HOSTS, PUBLIC, type AddressCheck } from "./guarded-lookup";
import { USER_AGENT } from "../version";
import { linkSignals } from "../work/signals";

export { EgressError, type EgressProblem, isPublicAddress, isPublicUrl, type Lookup } from "./address";

export interface EgressOptions {
  /** Exceptions to the rules, as `host:port`. */
  allow?: readonly string[];
  /** Servers in a private network, as `host:port`. Metadata services are still rejected. */
  ownServers?: readonly string[];
  lookup?: Lookup;
}

export interface EgressRequest {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  /** A stream can be sent only once, so a request with one follows no redirects and must set its length. */
  body?: string | Buffer | AsyncIterable<Uint8Array>;
  /** Time limit for the whole exchange, including the response body. */
  timeoutMs: number;
  maxBytes: number;
  maxRedirects?: number;
  /** Aborts the exchange. It then fails with the signal's reason. */
  signal?: AbortSignal;
}

export interface EgressResponse {
  status: number;
  /** Headers with names in lower case. The values of repeated headers are joined with commas. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export interface EgressStream extends Omit<EgressResponse, "body"> {
  body: AsyncIterable<Buffer>;
}

export interface EgressSocketRequest extends Pick<EgressRequest, "url" | "headers"> {
  /** Closes the connection. */
  signal: AbortSignal;
  /** Receives texts as strings and other messages as bytes, up to a few MB each. */
  onMessage: (message: string | Buffer) => void;
}

export interface EgressClient {
  request(request: EgressRequest): Promise<EgressResponse>;
  /** Returns the response body as a stream, for files and server-sent events. */
  stream(request: EgressRequest): Promise<EgressStream>;
  /**
   * Listens to a WebSocket at an `http` or `https` URL. Follows no redirects.
   * @returns when the connection is closed, for any reason
   * @throws EgressError for a blocked destination
   */
  listen(request: EgressSocketRequest): Promise<void>;
  close(): Promise<void>;
}

const flatHeaders = (headers: Dispatcher.ResponseData["headers"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(", ") : String(value ?? "")]),
  );

/** Puts Nodeloom before the caller's User-Agent. */
const withUserAgent = (headers: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const entries = Object.entries(headers);
  const agent = entries.find(([name]) => name.toLowerCase() === "user-agent")?.[1].trim();
  return {
    ...Object.fromEntries(entries.filter(([name]) => name.toLowerCase() !== "user-agent")),
    "user-agent": agent === undefined || agent === "" || agent.startsWith(USER_AGENT) ? agent || USER_AGENT : `${USER_AGENT} ${agent}`,
  };
};

/** Errors that certainly occurred before the request was sent. */
const UNSENT = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);
const UNSENT_SYSCALLS = new Set(["connect", "getaddrinfo"]);
/** Errors for a method, header or body that HTTP doesn't allow. */
const NOT_HTTP = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"]);

interface SocketError {
  code?: unknown;
  syscall?: string;
  cause?: unknown;
  /** One error per address, if several addresses were tried. */
  errors?: { code?: string }[];
}

/**
 * Translates an error for callers of the client. An aborted exchange fails with the signal's reason.
 * @param broken message for a request that was already sent
 */
const describe = (error: unknown, signal: AbortSignal, broken = "the connection was closed before an answer came"): unknown => {
  if (error instanceof EgressError) return error;
  const { code, syscall = "", cause, errors } = (error ?? {}) as SocketError;
  if (cause instanceof EgressError) return cause;
  if (signal.aborted) return signal.reason;
  const reason = String(code ?? "");
  if (NOT_HTTP.has(reason)) return egressRefusal("the request is not valid HTTP");
  const unsent = UNSENT.has(reason) || UNSENT_SYSCALLS.has(syscall) || errors !== undefined;
  if (reason.includes("TIMEOUT") || reason === "ETIMEDOUT")
    return new EgressError("TIMEOUT", "the address did not answer in time", !unsent);
  return new EgressError("UNREACHABLE", unsent ? "the address could not be reached" : broken, !unsent);
};

interface Deadline {
  signal: AbortSignal;
  clear(): void;
}

const startDeadline = (timeoutMs: number, outer: AbortSignal | undefined): Deadline => {
  const { signal, abort, unlink } = linkSignals(...(outer ? [outer] : []));
  const clear = (): void => {
    clearTimeout(timer);
    unlink();
  };
  const timer = setTimeout(() => {
    unlink();
    abort(new EgressError("TIMEOUT", "the address did not answer in time", true));
  }, timeoutMs);
  return { signal, clear };
};

const brokenOff = (bytes: number, declared: string | undefined): string =>
  `the answer broke off after ${bytes}${declared === undefined ? "" : ` of ${declared}`} bytes`;

async function* bounded({ body, headers }: Dispatcher.ResponseData, maxBytes: number, { signal, clear }: Deadline): AsyncIterable<Buffer> {
  let total = 0;
  try {
    for await (const chunk of body) {
      const bytes = chunk as Buffer;
      total += bytes.length;
      if (total > maxBytes) throw new EgressError("TOO_LARGE", `the answer is larger than ${maxBytes} bytes`, true);
      yield bytes;
    }
  } catch (error) {
    throw describe(error, signal, brokenOff(total, flatHeaders(headers)["content-length"]));
  } finally {
    clear();
    body.destroy();
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that are kept on a redirect to another origin. Any other header could contain a secret. */
const HARMLESS = new Set(["accept", "accept-encoding", "accept-language", "content-type", "range", "user-agent"]);

/**
 * The request after a redirect. It becomes GET after 303, and after 301 or 302 for a POST. Secrets are never sent to another origin.
 */
const redirected = (request: EgressRequest, from: URL, status: number, location: string): EgressRequest => {
  if (!URL.canParse(location, from.href)) throw new EgressError("REFUSED", "refused to follow a redirect: it leads to no URL", true);
  const next = new URL(location, from);
  const method = (request.method ?? "GET").toUpperCase();
  const toGet = method !== "HEAD" && (status === 303 || (status < 303 && method === "POST"));
  const headers = Object.entries(request.headers ?? {}).filter(
    ([name]) => (next.origin === from.origin || HARMLESS.has(name.toLowerCase())) && !(toGet && name.toLowerCase().startsWith("content-")),
  );
  const { body, ...rest } = request;
  return {
    ...rest,
    url: next.href,
    headers: Object.fromEntries(headers),
    ...(toGet ? { method: "GET" } : body === undefined ? {} : { body }),
  };
};

const bodyOf = (body: EgressRequest["body"]): string | Buffer | Readable | null =>
  body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? (body ?? null) : Readable.from(body, { objectMode: false });

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_SOCKET_MESSAGE_BYTES = 4 * 1_024 * 1_024;

export const createEgressClient = ({ allow = [], ownServers = [], lookup = dnsLookup }: EgressOptions = {}): EgressClient => {
  // Loaded here, so that processes without outgoing calls don't load it.
  const undici = require("undici") as typeof import("undici");
  const allowed = canonicalTargets(allow);
  const own = canonicalTargets(ownServers);
  const agentOptions = {
    connections: 256,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    webSocket: { maxPayloadSize: MAX_SOCKET_MESSAGE_BYTES },
  };
  const agent = (check: AddressCheck): Agent =>
    new undici.Agent({ ...agentOptions, connect: createConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup(lookup, check) }) });
  const agents = { guarded: agent(PUBLIC), exempt: agent(ANY), own: agent(HOSTS) };
  const agentFor = (target: string): Agent => (allowed.has(target) ? agents.exempt : own.has(target) ? agents.own : agents.guarded);

  const send = (options: EgressRequest, url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> =>
    undici.request(url, {
      method: (options.method ?? "GET") as Dispatcher.HttpMethod,
      headers: withUserAgent(options.headers),
      body: bodyOf(options.body),
      signal,
      dispatcher: agentFor(targetOf(url)),
      headersTimeout: 0,
      bodyTimeout: 0,
    });

  const hopTo = async (
    request: EgressRequest,
    hop: number,
    signal: AbortSignal,
  ): Promise<{ url: URL; response: Dispatcher.ResponseData }> => {
    try {
      const url = checkUrl(request.url, allowed, own);
      return { url, response: await send(request, url, signal) };
    } catch (cause) {
      const error = describe(cause, signal);
      // After a redirect, the first request was certainly received.
      throw hop > 0 && error instanceof EgressError ? new EgressError(error.code, error.message, true) : error;
    }
  };

  const exchange = async (options: EgressRequest, deadline: Deadline): Promise<EgressStream> => {
    let current = options;
    for (let hop = 0; ; hop += 1) {
      const { url, response } = await hopTo(current, hop, deadline.signal);
      const headers = flatHeaders(response.headers);
      const follow = (options.maxRedirects ?? 0) > 0 && REDIRECTS.has(response.statusCode) && headers.location !== undefined;
      if (!follow) return { status: response.statusCode, headers, body: bounded(response, options.maxBytes, deadline) };
      await response.body.dump();
      if (hop >= options.maxRedirects!) throw new EgressError("TOO_MANY_REDIRECTS", `more than ${options.maxRedirects} redirects`, true);
      current = redirected(current, url, response.statusCode, headers.location!);
    }
  };

  const stream = async (options: EgressRequest): Promise<EgressStream> => {
    const deadline = startDeadline(options.timeoutMs, options.signal);
    try {
      return await exchange(options, deadline);
    } catch (error) {
      deadline.clear();
      throw error;
    }
  };

  const listen = async ({ url: address, headers, signal, onMessage }: EgressSocketRequest): Promise<void> => {
    const url = checkUrl(address, allowed, own);
    if (signal.aborted) return;
    const socket = new undici.WebSocket(url.href.replace(/^http/, "ws"), {
      dispatcher: agentFor(targetOf(url)),
      headers: withUserAgent(headers),
    });
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }: { data: string | ArrayBuffer }) =>
      onMessage(typeof data === "string" ? data : Buffer.from(data)),
    );
    const close = (): void => socket.close();
    signal.addEventListener("abort", close);
    await new Promise<void>((resolve) => socket.addEventListener("close", () => resolve()));
    signal.removeEventListener("abort", close);
  };

  return {
    stream,
    listen,
    request: async (options) => {
      const response = await stream(options);
      const chunks: Buffer[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return { ...response, body: Buffer.concat(chunks) };
    },
    close: async () => {
      await Promise.all(Object.values(agents).map((one) => one.close()));
    },
  };
};
