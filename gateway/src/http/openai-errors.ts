import type { Reason } from "@nodeloom/kernel";
import type { ErrorReply } from "./errors";

/** Errors in the form of OpenAI's API (platform.openai.com/docs/guides/error-codes), for its libraries. */

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
};
const FIRST_SERVER_ERROR = 500;

const typeOf = (status: number): string => TYPES[status] ?? (status >= FIRST_SERVER_ERROR ? "server_error" : "invalid_request_error");

/** Inputs of a model have the names of parameters. */
const INPUTS = /^inputs\./;

/** Parameter that an error concerns, or null. */
const paramOf = (issues: unknown): string | null => {
  const path = Array.isArray(issues) ? (issues[0] as { path?: unknown } | undefined)?.path : undefined;
  return typeof path === "string" && path !== "" ? path.replace(INPUTS, "") : null;
};

export const OPENAI_PATH = "/v1/";

/** Temporary errors: the same request may succeed later. */
const PASSING: ReadonlySet<unknown> = new Set<Reason>([
  "RATE_LIMIT_EXCEEDED",
  "CONCURRENCY_LIMIT_EXCEEDED",
  "IDEMPOTENCY_IN_PROGRESS",
  "REQUEST_TIMEOUT",
  "SERVICE_UNAVAILABLE",
]);

/**
 * Error for OpenAI libraries: `{error: {message, type, param, code}}`, plus our own members. Those libraries retry 408, 409, 429 and 5xx
 * unless `x-should-retry` forbids it: for permanent errors, and for accepted runs, which must not start again.
 */
export const asOpenAiError = ({ status, headers, body }: ErrorReply): ErrorReply => {
  const { error: message, code = null, ...rest } = body;
  const mayPass = PASSING.has(code) && rest.executionId === undefined;
  return {
    status,
    headers: { ...headers, ...(mayPass ? {} : { "x-should-retry": "false" }) },
    body: { error: { message, type: typeOf(status), param: paramOf(rest.issues), code, ...rest } },
  };
};
