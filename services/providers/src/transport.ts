import { createHash } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { DomainError, LIMITS } from "@nodeloom/kernel";
import {
  durationHistogram,
  EgressError,
  inClientSpan,
  parseRetryAfter,
  type EgressRequest,
  type EgressSocketRequest,
  type EgressStream,
} from "@nodeloom/platform";
import type { ProviderSettings } from "./entries/settings";
import { ProviderError, type DialectContext } from "./dialect";
import { errorInside, refusal } from "./errors";
import { readJson } from "./pointer";

/** Sends requests to providers through the guarded client, with bounds on size, time and redirects, and errors without secrets. */

const requestTook = durationHistogram(
  "nodeloom.provider.request.duration",
  "requests to providers until their answer began, by provider and outcome",
);
const STATUS_CLASS = 100;
const REQUEST_TIMEOUT_MS = 20_000;
/** Time-out of requests that return a model's output directly. */
export const DIRECT_TIMEOUT_MS = 300_000;
const MAX_JSON_BYTES = 8 * 1024 * 1024;
const MAX_PROVIDER_REDIRECTS = 3;

/** Matches long secrets that a provider could echo: bearer tokens and texts that look like keys, even if the provider masked a part. */
const SECRET_LIKE = /\b(?:sk|pk|key|token|r8|nl|whsec)[-_][A-Za-z0-9_*.…-]{8,}/gi;

/** The part of a provider's response that is safe to show: shortened, without secrets or similar texts. */
export const showable = (body: string, ...secrets: readonly (string | undefined)[]): string => {
  const clean = secrets.reduce<string>((text, secret) => (secret && secret.length >= 6 ? text.replaceAll(secret, "[secret]") : text), body);
  return Buffer.from(clean.replace(SECRET_LIKE, "[secret]")).subarray(0, LIMITS.providerBodyBytes).toString("utf8");
};

/** Number of a model's newest keys that are removed from shown texts. */
const REMEMBERED_KEYS = 4;
/** Pause before reading a key again after a failure. */
const KEY_AGAIN_MS = 1_000;

/** Maximum text from a provider in an error message. */
const MAX_REASON_CHARS = 500;
const PRINTABLE = /^[\x21-\x7e]{1,255}$/;

/** Converts an idempotency key to a valid header value, because it contains node ids, which can be in any script. */
export const headerKey = (key: string): string => (PRINTABLE.test(key) ? key : createHash("sha256").update(key).digest("hex"));

/** A body that is sent unchanged and only once. */
export interface RawBody {
  contentType: string;
  /** Total bytes. */
  length: number;
  bytes: AsyncIterable<Uint8Array>;
}

export interface JsonCall {
  method: string;
  url: string;
  body?: unknown;
  /** Sent instead of `body`. */
  raw?: RawBody;
  /** True for a presigned URL. The secret isn't sent to it, because the URL has its own permission and can be on any host. */
  isPresigned?: boolean;
  headers?: Record<string, string>;
  timeoutMs?: number;
  /** Maximum response size. Default: the limit of a JSON document. */
  maxBytes?: number;
  signal?: AbortSignal | undefined;
}

export type Transport = ReturnType<typeof createTransport>;

async function* translatedBody(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new ProviderError("ambiguous", `the provider's answer did not arrive whole: ${error.message}`);
  }
}

/** Records the status of a response and the time until it started. */
const counted = async (host: string, send: () => Promise<EgressStream>): Promise<EgressStream> => {
  const startedAt = performance.now();
  const note = (outcome: string): void => requestTook(performance.now() - startedAt, { provider: host, outcome });
  try {
    const answer = await send();
    note(`${Math.floor(answer.status / STATUS_CLASS)}xx`);
    return answer;
  } catch (error) {
    note(error instanceof EgressError ? (error.mayHaveBeenSent ? "no answer" : "unreachable") : "given up");
    throw error;
  }
};

/** @throws ProviderError if the key can't be read now; nothing was sent */
const readKey = async (readSecret: () => ReturnType<DialectContext["secret"]>): Promise<string | undefined> => {
  try {
    return await readSecret();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new ProviderError("unavailable", `the platform's key for it can't be read: ${error.message}`, undefined, undefined, KEY_AGAIN_MS);
  }
};

/** Sends authenticated JSON requests through the guarded client. */
export const createTransport = (
  { egress, secret: readSecret }: DialectContext,
  { auth, traceparent }: Pick<ProviderSettings, "auth" | "traceparent">,
) => {
  /** Recently sent keys, which a provider may echo. There can be several, because a key can be replaced during a call. */
  const sentSecrets = new Set<string>();
  const remember = (secret: string): void => {
    sentSecrets.delete(secret);
    sentSecrets.add(secret);
    for (const oldest of sentSecrets) if (sentSecrets.size > REMEMBERED_KEYS) sentSecrets.delete(oldest);
  };

  const authorization = async (url: string): Promise<Record<string, string>> => {
    if (!auth) return {};
    const secret = (await readKey(() => readSecret(auth, url))) ?? auth.default;
    if (!secret) return {};
    // An entry's default key is public, for example the sandbox's.
    if (secret !== auth.default) remember(secret);
    return { [auth.header ?? "Authorization"]: auth.scheme ? `${auth.scheme} ${secret}` : secret };
  };
  const withoutKeys = (text: string): string => showable(text, ...sentSecrets);

  const send = async (call: JsonCall): Promise<EgressStream> => {
    const request: EgressRequest = {
      url: call.url,
      method: call.method,
      headers: {
        accept: "application/json",
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...(call.raw ? { "content-type": call.raw.contentType, "content-length": String(call.raw.length) } : {}),
        ...call.headers,
        ...(call.isPresigned ? {} : await authorization(call.url)),
      },
      timeoutMs: call.timeoutMs ?? REQUEST_TIMEOUT_MS,
      maxBytes: call.maxBytes ?? MAX_JSON_BYTES,
      maxRedirects: call.raw ? 0 : MAX_PROVIDER_REDIRECTS,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.raw ? { body: call.raw.bytes } : {}),
      ...(call.signal ? { signal: call.signal } : {}),
    };
    const { host } = new URL(call.url);
    return inClientSpan(`${call.method} ${host}`, { "http.request.method": call.method, "server.address": host }, (trace) =>
      counted(host, () => egress.stream(traceparent ? { ...request, headers: { ...request.headers, ...trace } } : request)),
    );
  };

  const text = async (body: AsyncIterable<Buffer>): Promise<string> => {
    // Decoded as it arrives, so that the bytes and the text of a response aren't in memory at the same time.
    const decoder = new StringDecoder("utf8");
    let bodyText = "";
    for await (const chunk of body) bodyText += decoder.write(chunk);
    return bodyText + decoder.end();
  };

  /** Returns a successful response with its headers. Errors while its body is read are ProviderErrors. */
  const open = async (call: JsonCall): Promise<Pick<EgressStream, "headers"> & { body: AsyncIterable<Buffer> }> => {
    try {
      const { status, headers, body } = await send(call);
      if (status >= 200 && status < 300) return { headers, body: translatedBody(body) };
      const problemText = withoutKeys(await text(body));
      throw new ProviderError("refused", refusal(status, problemText), status, problemText, parseRetryAfter(headers["retry-after"]));
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      throw new ProviderError(error.mayHaveBeenSent ? "ambiguous" : "unreachable", `the provider could not be called: ${error.message}`);
    }
  };

  /**
   * Parses the JSON of an opened body.
   * @throws ProviderError if it isn't JSON
   */
  const parse = async (body: AsyncIterable<Buffer>): Promise<unknown> => {
    const content = await text(body);
    const parsedJson = content === "" ? { value: null } : readJson(content);
    if (!parsedJson) throw new ProviderError("ambiguous", "the provider's answer isn't JSON", undefined, withoutKeys(content));
    return parsedJson.value;
  };

  return {
    open,
    parse,
    text,
    /**
     * Makes one JSON exchange.
     * @throws ProviderError for an error status, a body that isn't JSON, or no response
     */
    json: async (call: JsonCall): Promise<unknown> => parse((await open(call)).body),
    /** Listens to a WebSocket, with the provider's key. */
    listen: async (request: Omit<EgressSocketRequest, "headers">): Promise<void> =>
      egress.listen({ ...request, headers: await authorization(request.url) }),
    /** Makes an exchange whose response has no content. */
    done: async (call: JsonCall): Promise<void> => {
      for await (const _ of (await open(call)).body);
    },
    /** Returns the error in a response with a success status, or undefined. */
    errorInside: (answer: unknown, lacksOutput?: boolean): ProviderError | undefined => errorInside(answer, withoutKeys, lacksOutput),
    /** Removes secrets from a response or a part of one. */
    shown: withoutKeys,
    /** Returns a provider's error message, shortened and without secrets. */
    reason: (text: string): string => {
      const clean = withoutKeys(text);
      return clean.length > MAX_REASON_CHARS ? `${clean.slice(0, MAX_REASON_CHARS)}…` : clean;
    },
  };
};
