import { lookup as dnsLookup, type LookupAddress } from "node:dns";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import * as ipaddr from "ipaddr.js";
import { Agent, request as undiciRequest, type Dispatcher } from "undici";

/** A destination that may not be called, or an answer that broke a bound. The message is safe to show. */
export class EgressError extends Error {
  override readonly name = "EgressError";
  constructor(
    readonly code: "REFUSED" | "TOO_LARGE" | "TOO_MANY_REDIRECTS" | "UNREACHABLE" | "TIMEOUT",
    message: string,
    /** False when the request certainly never reached the other side. */
    readonly mayHaveBeenSent: boolean,
  ) {
    super(message);
  }
}

const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b:1::/48");

/** Whether an address is public unicast: nothing private, local, mapped, translated or reserved. */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  if (parsed.kind() === "ipv4") return true;
  const v6 = parsed as ipaddr.IPv6;
  // Outside 2000::/3 nothing is globally routed; the local NAT64 prefix would reach v4 addresses unseen.
  return (v6.parts[0]! & 0xe000) === 0x2000 && !v6.match(LOCAL_NAT64);
};

export interface EgressOptions {
  /** host:port exceptions. */
  allow?: readonly string[];
  /** Longest time to connect. */
  connectTimeoutMs?: number;
}

export interface EgressRequest {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Longest time for the whole exchange, the body included. */
  timeoutMs: number;
  /** Longest body in bytes. */
  maxBytes: number;
  /** Redirects that are followed, each checked again. */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface EgressResponse {
  status: number;
  /** Lower-case names; repeated headers joined by a comma. */
  headers: Readonly<Record<string, string>>;
  /** The body, bounded by maxBytes. */
  body: Buffer;
}

export interface EgressStream extends Omit<EgressResponse, "body"> {
  /** Fails with TOO_LARGE past maxBytes. */
  body: AsyncIterable<Buffer>;
}

export interface EgressClient {
  /** One exchange with the body in memory. */
  request(request: EgressRequest): Promise<EgressResponse>;
  /** One exchange with the body as a stream, for files and server-sent events. */
  stream(request: EgressRequest): Promise<EgressStream>;
  close(): Promise<void>;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const SENSITIVE = new Set(["authorization", "cookie", "x-api-key"]);

const target = (url: URL): string => `${url.hostname}:${url.port || DEFAULT_PORTS[url.protocol]}`;

/**
 * Checks what can be known before a connection.
 * @throws EgressError for other protocols, credentials in the URL and private literal addresses.
 */
export const checkUrl = (raw: string, allow: ReadonlySet<string>): URL => {
  const refuse = (why: string): never => {
    throw new EgressError("REFUSED", `refused to call this address: ${why}`, false);
  };
  if (!URL.canParse(raw)) return refuse("it is not a URL");
  const url = new URL(raw);
  if (!(url.protocol in DEFAULT_PORTS)) return refuse("only http and https are allowed");
  if (url.username || url.password) return refuse("credentials in a URL are not allowed");
  if (allow.has(target(url))) return url;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) && !isPublicAddress(host)) return refuse("it is not a public address");
  return url;
};

/** Resolves names for the socket itself, so that the address that was checked is the one that is used. */
const guardedLookup =
  (allowed: boolean) =>
  (
    host: string,
    options: object,
    callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
  ): void => {
    dnsLookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      if (!allowed && (addresses.length === 0 || addresses.some(({ address }) => !isPublicAddress(address)))) {
        return callback(
          new EgressError("REFUSED", "refused to call this address: its name does not resolve to public addresses only", false),
          [],
        );
      }
      if ((options as { all?: boolean }).all) return callback(null, addresses);
      return callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };

const flatHeaders = (headers: Dispatcher.ResponseData["headers"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(", ") : String(value ?? "")]),
  );

async function* bounded(body: Readable, maxBytes: number): AsyncIterable<Buffer> {
  let total = 0;
  try {
    for await (const chunk of body) {
      const bytes = chunk as Buffer;
      total += bytes.length;
      if (total > maxBytes) throw new EgressError("TOO_LARGE", `the answer is larger than ${maxBytes} bytes`, true);
      yield bytes;
    }
  } catch (error) {
    throw describe(error);
  } finally {
    body.destroy();
  }
}

/** Errors that certainly happened before the request left. */
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

interface SocketError {
  name?: string;
  code?: string;
  cause?: unknown;
  /** Of an attempt at several addresses. */
  errors?: { code?: string }[];
}

const describe = (error: unknown): unknown => {
  if (error instanceof EgressError) return error;
  const { name = "", code, cause, errors } = (error ?? {}) as SocketError;
  if (cause instanceof EgressError) return cause;
  if (name === "AbortError") return error;
  const reason = code ?? errors?.[0]?.code ?? "";
  const mayHaveBeenSent = !UNSENT.has(reason);
  if (name === "TimeoutError" || reason.includes("TIMEOUT"))
    return new EgressError("TIMEOUT", "the address did not answer in time", mayHaveBeenSent);
  return new EgressError("UNREACHABLE", "the address could not be reached", mayHaveBeenSent);
};

/** The one HTTP client for calls that leave the platform. */
export const createEgressClient = ({ allow = [], connectTimeoutMs = 5_000 }: EgressOptions = {}): EgressClient => {
  const allowed = new Set(allow);
  const agentOptions = { connections: 256, pipelining: 1, keepAliveTimeout: 10_000 };
  const agent = (exempt: boolean): Agent =>
    new Agent({ ...agentOptions, connect: { timeout: connectTimeoutMs, lookup: guardedLookup(exempt) } });
  const guarded = agent(false);
  const exempt = agent(true);

  const send = async (options: EgressRequest, url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    try {
      return await undiciRequest(url, {
        method: (options.method ?? "GET") as Dispatcher.HttpMethod,
        headers: options.headers ?? {},
        body: options.body ?? null,
        signal,
        dispatcher: allowed.has(target(url)) ? exempt : guarded,
        headersTimeout: options.timeoutMs,
        bodyTimeout: options.timeoutMs,
      });
    } catch (error) {
      throw describe(error);
    }
  };

  const stream = async (options: EgressRequest): Promise<EgressStream> => {
    const signal = AbortSignal.any([AbortSignal.timeout(options.timeoutMs), ...(options.signal ? [options.signal] : [])]);
    let current = options;
    for (let hop = 0; ; hop += 1) {
      const url = checkUrl(current.url, allowed);
      const response = await send(current, url, signal);
      const headers = flatHeaders(response.headers);
      const follow = (options.maxRedirects ?? 0) > 0 && REDIRECTS.has(response.statusCode) && headers.location !== undefined;
      if (!follow) return { status: response.statusCode, headers, body: bounded(response.body, options.maxBytes) };
      await response.body.dump();
      if (hop >= options.maxRedirects!) throw new EgressError("TOO_MANY_REDIRECTS", `more than ${options.maxRedirects} redirects`, true);
      current = redirected(current, url, response.statusCode, headers.location!);
    }
  };

  return {
    stream,
    request: async (options) => {
      const response = await stream(options);
      const chunks: Buffer[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return { ...response, body: Buffer.concat(chunks) };
    },
    close: async () => {
      await Promise.all([guarded.close(), exempt.close()]);
    },
  };
};

/** The request a redirect asks for: GET after 303 (and 301/302 of a POST), secrets kept to their origin. */
const redirected = (request: EgressRequest, from: URL, status: number, location: string): EgressRequest => {
  const next = new URL(location, from);
  const toGet = status === 303 || (status < 303 && request.method === "POST");
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).filter(([name]) => next.origin === from.origin || !SENSITIVE.has(name.toLowerCase())),
  );
  const { body, ...rest } = request;
  return { ...rest, url: next.href, headers, ...(toGet ? { method: "GET" } : body === undefined ? {} : { body }) };
};
