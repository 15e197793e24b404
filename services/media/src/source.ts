import { LIMITS } from "@nodeloom/kernel";
import { EgressError, type EgressClient } from "@nodeloom/platform";

/** Thrown if a source can't be read. The message can be shown to users. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  constructor(
    message: string,
    /** True if a retry can succeed. */
    readonly transient = false,
  ) {
    super(message);
  }
}

const FETCH_TIMEOUT_MS = 120_000;
/** Maximum redirects for a provider's file. Each target is checked. */
export const PROVIDER_REDIRECTS = 3;
/** Redirects aren't followed, because rate limits count calls to user-chosen URLs by host before the call. */
export const USER_REDIRECTS = 0;
const SHOWN_CHARS = 200;
const DATA_URL = /^data:([^,]*),/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_ERROR = 500;

/** Describes a source for messages, without data and without its query, which can contain a signature. */
export const describeSource = (url: string): string => {
  if (DATA_URL.test(url)) return "the data URL";
  if (!URL.canParse(url)) return "the address";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`.slice(0, SHOWN_CHARS);
};

const percentDecoded = (text: string): Buffer =>
  Buffer.from(
    Buffer.from(text, "utf8")
      .toString("latin1")
      .replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    "latin1",
  );

/** @throws SourceError for a malformed data URL */
export const decodeDataUrl = (url: string): Buffer => {
  const header = DATA_URL.exec(url);
  if (!header) throw new SourceError("is not a valid data URL");
  const body = url.slice(header[0].length);
  if (!/;\s*base64\s*$/i.test(header[1]!)) return percentDecoded(body);
  const text = percentDecoded(body).toString("latin1").replace(/\s/g, "");
  if (!BASE64.test(text)) throw new SourceError("is not valid base64");
  return Buffer.from(text, "base64");
};

async function* once(bytes: Buffer): AsyncIterable<Uint8Array> {
  yield bytes;
}

/** Frees the connection of a response whose body isn't needed. */
const abandon = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
  try {
    for await (const chunk of body) if (chunk) return;
  } catch {
    return;
  }
};

async function* readable(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw fromEgress(error);
  }
}

const fromEgress = (error: unknown): unknown =>
  error instanceof EgressError ? new SourceError(`could not be fetched: ${error.message}`, error.code === "UNREACHABLE") : error;

/**
 * Opens an http, https or data URL through the egress client.
 * @throws SourceError here or while the bytes are read
 */
export const openSource = async (egress: EgressClient, url: string, maxRedirects: number): Promise<AsyncIterable<Uint8Array>> => {
  if (/^data:/i.test(url)) return once(decodeDataUrl(url));
  const request = { url, timeoutMs: FETCH_TIMEOUT_MS, maxBytes: LIMITS.mediaBytes, maxRedirects };
  const response = await egress.stream(request).catch((error: unknown) => {
    throw fromEgress(error);
  });
  if (response.status >= 200 && response.status < 300) return readable(response.body);
  await abandon(response.body);
  const transient = response.status >= FIRST_SERVER_ERROR || response.status === TOO_MANY_REQUESTS;
  throw new SourceError(`could not be fetched: it answered ${response.status}`, transient);
};
