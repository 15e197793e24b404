import { DomainError, LIMITS } from "@nodeloom/kernel";
import type { HttpCall } from "@nodeloom/kernel/graph";
import { EgressError, type EgressClient } from "@nodeloom/platform";
import { pointer } from "../providers/pointer";
import { TIMING } from "../timing";

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]);
/** Set by the client itself, or not the author's to set. */
const RESERVED_HEADERS = new Set(["host", "connection", "content-length", "transfer-encoding"]);

const failed = (message: string): DomainError => new DomainError("failed", "EXECUTION_FAILED", message);

const content = (body: Buffer, contentType: string): unknown => {
  const text = body.toString("utf8");
  if (!/\bjson\b/i.test(contentType)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/**
 * One call of an http-request node through the guarded client. Any status is an answer; an unreachable or refused
 * address is an error.
 * @param idempotencyKey sent with writes, so that a repeated attempt can be recognised.
 */
export const createHttpRequest =
  (egress: EgressClient) =>
  async (call: HttpCall, idempotencyKey: string, signal: AbortSignal): Promise<{ status: number; body: unknown }> => {
    if (!METHODS.has(call.method)) throw failed(`${call.method} is not a method this node can use`);
    const headers = Object.fromEntries(
      Object.entries(call.headers)
        .map(([name, value]): [string, string] => [name.toLowerCase(), value])
        .filter(([name]) => !RESERVED_HEADERS.has(name)),
    );
    const isText = typeof call.body === "string";
    const body = call.body === undefined ? undefined : isText ? (call.body as string) : JSON.stringify(call.body);
    if (body !== undefined && headers["content-type"] === undefined)
      headers["content-type"] = isText ? "text/plain; charset=utf-8" : "application/json";
    if (call.method !== "GET" && call.method !== "HEAD") headers["idempotency-key"] ??= idempotencyKey;
    try {
      const response = await egress.request({
        url: call.url,
        method: call.method,
        headers,
        timeoutMs: TIMING.httpRequest / 2,
        maxBytes: LIMITS.textValueBytes,
        signal,
        ...(body === undefined ? {} : { body }),
      });
      const answer = content(response.body, response.headers["content-type"] ?? "");
      return { status: response.status, body: call.extract === undefined ? answer : (pointer(answer, call.extract) ?? null) };
    } catch (error) {
      if (error instanceof EgressError) throw failed(error.message);
      throw error;
    }
  };
