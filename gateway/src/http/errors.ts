import { DomainError, type BaseTier, type ErrorMetadata, type Reason } from "@nodeloom/kernel";
import { ERRORS, WITHOUT_CODE } from "./error-table";

export const HTTP_STATUS_BY_REASON = Object.fromEntries(Object.entries(ERRORS).map(([reason, { status }]) => [reason, status])) as Readonly<
  Record<Reason, number>
>;

export interface ErrorReply {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

const SERVER_ERROR = 500;

/**
 * Status of an error for libraries that retry after the given statuses. If the run was accepted, a retry would start and charge another
 * run.
 */
export const unrepeated = (status: number, repeated: ReadonlySet<number>, { executionId }: ErrorReply["body"]): number =>
  executionId !== undefined && repeated.has(status) ? SERVER_ERROR : status;

/** A problem of a request, or of a node in the graph that it runs. */
interface Issue {
  path: string;
  message: string;
}

/** Issues of an error body for APIs without a member for the node: the message names it, and a setting of the node isn't a path. */
export const issuesOf = ({ issues }: ErrorReply["body"]): Issue[] =>
  !Array.isArray(issues)
    ? []
    : (issues as (Partial<Issue> & { nodeId?: string | null })[]).map(({ nodeId, path = "", message = "" }) =>
        nodeId ? { path: "", message: `${nodeId}: ${message}` } : { path, message },
      );

/** Path of the error pages on the documentation site. */
export const ERROR_PAGES = "/docs/reference/errors/";
const INTERNAL_MESSAGE = "internal error";

const errorHeaders = (error: DomainError): Record<string, string> => {
  const headers: Record<string, string> = {};
  const { retryAfter, allow } = error.metadata;
  if (typeof retryAfter === "number") headers["Retry-After"] = String(Math.max(1, Math.ceil(retryAfter)));
  if (Array.isArray(allow)) headers.Allow = allow.join(", ");
  if (error.reason === "UNAUTHENTICATED" || error.reason === "LEGACY_KEY_RETIRED") headers["WWW-Authenticate"] = "ApiKey";
  return headers;
};

/** Body of an error: `{error, code, doc, ...metadata}`. Unexpected errors become INTERNAL without details. */
export const errorReply = (error: unknown): ErrorReply => {
  const domainError =
    error instanceof DomainError && error.reason !== "INTERNAL" ? error : new DomainError("internal", "INTERNAL", INTERNAL_MESSAGE);
  const body: Record<string, unknown> = { error: domainError.message };
  if (!WITHOUT_CODE.has(domainError.reason)) {
    body.code = domainError.reason;
    body.doc = `${ERROR_PAGES}${domainError.reason}`;
    for (const [name, value] of Object.entries(domainError.metadata)) if (!(name in body) && name !== "allow") body[name] = value;
  }
  return { status: HTTP_STATUS_BY_REASON[domainError.reason], headers: errorHeaders(domainError), body };
};

/** True if our code raised the error on purpose; others are logged. */
export const isExpected = (error: unknown): boolean => error instanceof DomainError && error.reason !== "INTERNAL";

export const unauthenticated = (message = "a valid API key (header x-api-key) or session is required"): DomainError =>
  new DomainError("unauthenticated", "UNAUTHENTICATED", message);

/**
 * For a request without accepted credentials.
 * @param authorization header of the request
 * @param scheme of the route's keys in that header; undefined if it takes `x-api-key` alone
 */
export const credentialsMissing = (authorization: string | undefined, scheme: string | undefined): DomainError => {
  if (scheme !== undefined) return unauthenticated(`send an API key in the header Authorization: ${scheme} <key>`);
  const isIgnored = authorization !== undefined ? ", not in Authorization" : "";
  return unauthenticated(`send an API key in the header x-api-key${isIgnored}, or sign in`);
};

/** @param requiredTier the lowest tier with the capability, if the caller's tier lacks it */
export const capabilityDenied = (required: string, requiredTier?: BaseTier): DomainError =>
  new DomainError(
    "forbidden",
    "CAPABILITY_DENIED",
    `the capability ${required} is required${requiredTier === undefined ? "" : `, which needs the tier ${requiredTier}`}`,
    { required, ...(requiredTier === undefined ? {} : { requiredTier }) },
  );

/** @param required the capability that admits keys, if any */
export const sessionRequired = (required?: string): DomainError =>
  required === undefined
    ? new DomainError("forbidden", "SESSION_REQUIRED", "this endpoint needs a browser session; API keys are not accepted")
    : new DomainError("forbidden", "SESSION_REQUIRED", `this endpoint needs a browser session, or a key with the capability ${required}`, {
        required,
      });

/** @param origin the only origin that can write with a session */
export const crossOriginDenied = (origin: string): DomainError =>
  new DomainError(
    "forbidden",
    "CROSS_ORIGIN_DENIED",
    `requests with a session cookie must come from ${origin} (Origin, or Sec-Fetch-Site: same-origin)`,
  );

export const modelNotFound = (internalName: string): DomainError =>
  new DomainError("not_found", "MODEL_NOT_FOUND", `there is no model ${internalName}`);

export const notFound = (what: string): DomainError => new DomainError("not_found", "NOT_FOUND", `${what} not found`);

export const invalidSlug = (): DomainError =>
  new DomainError("invalid", "INVALID_SLUG", "internalName must be lowercase letters, digits and single hyphens");

/** @param meant path of the route that was probably meant */
export const routeNotFound = (meant?: string): DomainError =>
  new DomainError(
    "not_found",
    "ROUTE_NOT_FOUND",
    `there is no such route${meant === undefined ? ":" : `; did you mean ${meant}?`} /docs lists all routes`,
  );

export const methodNotAllowed = (allow: readonly string[]): DomainError =>
  new DomainError("invalid", "METHOD_NOT_ALLOWED", `this route answers ${allow.join(", ")}`, { allow });

export const payloadTooLarge = (limitBytes: number): DomainError =>
  new DomainError("invalid", "PAYLOAD_TOO_LARGE", `the body can have at most ${limitBytes} bytes`, { limit: limitBytes });

export const requestTimeout = (): DomainError => new DomainError("invalid", "REQUEST_TIMEOUT", "the request took too long to arrive");

export const unsupportedMediaType = (message: string): DomainError => new DomainError("invalid", "UNSUPPORTED_MEDIA_TYPE", message);

export const rateLimitExceeded = (metadata: ErrorMetadata & { tier: string; limit: number; retryAfter: number }): DomainError =>
  new DomainError("exhausted", "RATE_LIMIT_EXCEEDED", `more than ${metadata.limit} requests per minute on this route`, metadata);
