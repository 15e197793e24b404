import { DomainError, type ErrorMetadata, type Reason } from "@nodeloom/kernel";

/** The one place where machine-readable codes meet HTTP statuses; exhaustive over every code that exists. */
export const HTTP_STATUS_BY_REASON: Readonly<Record<Reason, number>> = {
  INVALID_REQUEST: 400,
  INVALID_INPUTS: 400,
  INVALID_SLUG: 400,
  ASYNC_NOT_SUPPORTED: 400,
  UNAUTHENTICATED: 401,
  LEGACY_KEY_RETIRED: 401,
  INSUFFICIENT_CREDITS: 402,
  grant_exhausted: 402,
  CAPABILITY_DENIED: 403,
  CAPABILITY_ABOVE_CEILING: 403,
  API_KEY_ACCESS_DENIED: 403,
  SESSION_REQUIRED: 403,
  ADMIN_REQUIRED: 403,
  CROSS_ORIGIN_DENIED: 403,
  ACCOUNT_NOT_APPROVED: 403,
  WORKFLOW_CAP_REACHED: 403,
  MODEL_TIER_REQUIRED: 403,
  WORKFLOW_NOT_FOUND: 404,
  EXECUTION_NOT_FOUND: 404,
  MODEL_NOT_FOUND: 404,
  NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  ALREADY_EXISTS: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  WORKFLOW_INVALID: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMIT_EXCEEDED: 429,
  CONCURRENCY_LIMIT_EXCEEDED: 429,
  EXECUTION_FAILED: 500,
  PROVIDER_SUBMIT_FAILED: 500,
  PROVIDER_RESPONSE_INCOMPLETE: 500,
  INTERNAL: 500,
  SERVICE_UNAVAILABLE: 503,
};

/** Reasons whose body has no `code`. */
const WITHOUT_CODE: ReadonlySet<Reason> = new Set<Reason>(["WORKFLOW_NOT_FOUND"]);

export interface ErrorReply {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

const INTERNAL_MESSAGE = "internal error";

const errorHeaders = (error: DomainError): Record<string, string> => {
  const headers: Record<string, string> = {};
  const { retryAfter, allow } = error.metadata;
  if (typeof retryAfter === "number") headers["Retry-After"] = String(Math.max(1, Math.ceil(retryAfter)));
  if (Array.isArray(allow)) headers.Allow = allow.join(", ");
  if (HTTP_STATUS_BY_REASON[error.reason] === HTTP_STATUS_BY_REASON.UNAUTHENTICATED) headers["WWW-Authenticate"] = "ApiKey";
  return headers;
};

/** An error as clients see it: `{error, code, ...metadata}`. Anything unforeseen is INTERNAL, without detail. */
export const errorReply = (error: unknown): ErrorReply => {
  const known =
    error instanceof DomainError && error.reason !== "INTERNAL" ? error : new DomainError("internal", "INTERNAL", INTERNAL_MESSAGE);
  const body: Record<string, unknown> = { error: known.message };
  if (!WITHOUT_CODE.has(known.reason)) body.code = known.reason;
  if (!WITHOUT_CODE.has(known.reason)) {
    for (const [name, value] of Object.entries(known.metadata)) if (!(name in body) && name !== "allow") body[name] = value;
  }
  return { status: HTTP_STATUS_BY_REASON[known.reason], headers: errorHeaders(known), body };
};

/** Whether an error was raised on purpose, so that it needs no log of its own. */
export const isExpected = (error: unknown): boolean => error instanceof DomainError && error.reason !== "INTERNAL";

export const unauthenticated = (): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", "a valid API key or session is required");

export const capabilityDenied = (required: string): DomainError =>
  new DomainError("forbidden", "CAPABILITY_DENIED", `the capability ${required} is required`, { required });

export const sessionRequired = (): DomainError =>
  new DomainError("forbidden", "SESSION_REQUIRED", "this endpoint needs a browser session; API keys are not accepted");

export const adminRequired = (): DomainError => new DomainError("forbidden", "ADMIN_REQUIRED", "this endpoint is for administrators");

export const crossOriginDenied = (): DomainError =>
  new DomainError(
    "forbidden",
    "CROSS_ORIGIN_DENIED",
    "requests with a session cookie must come from this origin (Origin or Sec-Fetch-Site)",
  );

export const accountNotApproved = (): DomainError =>
  new DomainError("forbidden", "ACCOUNT_NOT_APPROVED", "this account awaits approval and cannot run anything yet");

export const workflowNotFound = (): DomainError => new DomainError("not_found", "WORKFLOW_NOT_FOUND", "workflow not found");

export const executionNotFound = (): DomainError => new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");

export const notFound = (what: string): DomainError => new DomainError("not_found", "NOT_FOUND", `${what} not found`);

export const invalidSlug = (): DomainError =>
  new DomainError("invalid", "INVALID_SLUG", "internalName must be lowercase letters, digits and single hyphens");

export const routeNotFound = (): DomainError => new DomainError("not_found", "ROUTE_NOT_FOUND", "there is no such route");

export const methodNotAllowed = (allow: readonly string[]): DomainError =>
  new DomainError("invalid", "METHOD_NOT_ALLOWED", `this route answers ${allow.join(", ")}`, { allow });

export const payloadTooLarge = (limitBytes: number): DomainError =>
  new DomainError("invalid", "PAYLOAD_TOO_LARGE", `the body may have at most ${limitBytes} bytes`, { limit: limitBytes });

export const unsupportedMediaType = (message: string): DomainError => new DomainError("invalid", "UNSUPPORTED_MEDIA_TYPE", message);

export const preconditionFailed = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", "the resource has changed since the revision named by If-Match");

/** Too many requests in the window. */
export const rateLimitExceeded = (metadata: ErrorMetadata & { tier: string; limit: number; retryAfter: number }): DomainError =>
  new DomainError("exhausted", "RATE_LIMIT_EXCEEDED", `more than ${metadata.limit} requests per minute on this route`, metadata);
