import type { IssueCode } from "./issues";
import type { Role } from "./access/organizations";
import { didYouMean } from "./text/nearest-name";
import { wellFormed } from "./text/well-formed";

/**
 * The error type that services throw on purpose. `kind` sets the gRPC status, `reason` is the code that clients get, and `metadata` adds
 * members to the error body.
 */
export const ERROR_KINDS = [
  "invalid",
  "unauthenticated",
  "forbidden",
  "not_found",
  "conflict",
  "precondition",
  "exhausted",
  "unavailable",
  "failed",
  "internal",
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Error codes that an HTTP client can get. `HTTP_STATUS_BY_REASON` in the gateway covers all of them (checked by the compiler). */
export const REASONS = [
  "INVALID_REQUEST",
  "INVALID_INPUTS",
  "INVALID_SLUG",
  "ASYNC_NOT_SUPPORTED",
  "UNAUTHENTICATED",
  "LEGACY_KEY_RETIRED",
  "SIGNATURE_INVALID",
  "INSUFFICIENT_CREDITS",
  "grant_exhausted",
  "BUDGET_EXCEEDED",
  "CAPABILITY_DENIED",
  "NOT_APPROVER",
  "CAPABILITY_ABOVE_CEILING",
  "API_KEY_ACCESS_DENIED",
  "SESSION_REQUIRED",
  "CROSS_ORIGIN_DENIED",
  "ACCOUNT_NOT_APPROVED",
  "ACCOUNT_SUSPENDED",
  "ACCOUNT_LEAVING",
  "WORKFLOW_CAP_REACHED",
  "TEMPLATE_CAP_REACHED",
  "MEDIA_QUOTA_EXCEEDED",
  "MEDIA_URL_EXPIRED",
  "MODEL_TIER_REQUIRED",
  "WORKFLOW_NOT_FOUND",
  "VERSION_NOT_FOUND",
  "ALIAS_NOT_FOUND",
  "EXECUTION_NOT_FOUND",
  "MODEL_NOT_FOUND",
  "NOT_FOUND",
  "ROUTE_NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "ALREADY_EXISTS",
  "IDEMPOTENCY_IN_PROGRESS",
  "PLAN_STALE",
  "BUNDLE_CONFLICT",
  "TESTS_REQUIRED",
  "CANARY_SHAPE",
  "NOT_WAITING",
  "EXECUTION_NOT_FINAL",
  "SOURCE_ERASED",
  "EXECUTION_CANCELLED",
  "SOLE_OWNER",
  "PRECONDITION_FAILED",
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "WORKFLOW_INVALID",
  "CONTENT_REFUSED",
  "IDEMPOTENCY_KEY_REUSED",
  "RATE_LIMIT_EXCEEDED",
  "CONCURRENCY_LIMIT_EXCEEDED",
  "EXECUTION_FAILED",
  "OUTGOING_LIMIT_EXCEEDED",
  "PROVIDER_SUBMIT_FAILED",
  "PROVIDER_RESPONSE_INCOMPLETE",
  "NOT_CONFIGURED",
  "SERVICE_UNAVAILABLE",
  "INTERNAL",
] as const;
export type Reason = (typeof REASONS)[number];

export const isReason = (code: string): code is Reason => (REASONS as readonly string[]).includes(code);

export type ErrorMetadata = Readonly<Record<string, unknown>>;

export class DomainError extends Error {
  override readonly name = "DomainError";

  constructor(
    readonly kind: ErrorKind,
    readonly reason: Reason,
    message: string,
    /** Additional members of the error body, as plain JSON values. */
    readonly metadata: ErrorMetadata = {},
  ) {
    super(wellFormed(message));
  }
}

export const isUnavailable = (error: unknown): boolean => error instanceof DomainError && error.kind === "unavailable";

export const isNotFound = (error: unknown): boolean => error instanceof DomainError && error.kind === "not_found";

/**
 * @returns the result, or undefined for a `not_found` error
 * @throws every other error
 */
export const unlessNotFound = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

/** True for a definite rejection; false if the failure may be temporary. */
export const isRefusal = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.kind !== "unavailable" && error.kind !== "internal";

/** Error metadata between services: the error was stored earlier under this Idempotency-Key. Clients get a header instead. */
export const REPLAYED_REFUSAL = "isReplay";

const SHORT_OF_CREDITS: ReadonlySet<string> = new Set<Reason>(["INSUFFICIENT_CREDITS", "grant_exhausted", "BUDGET_EXCEEDED"]);

/** True if the code says that an account, a run or a budget has too few credits. */
export const isShortOfCredits = (code: string): boolean => SHORT_OF_CREDITS.has(code);

/** One problem of a request. `path` is dotted, such as `inputs.style`. */
export interface Issue {
  path: string;
  message: string;
  code?: IssueCode;
}

const invalid =
  (reason: Reason) =>
  (issues: Issue[]): DomainError => {
    const message = issues.map((issue) => (issue.path ? `${issue.path}: ${issue.message}` : issue.message)).join("; ");
    return new DomainError("invalid", reason, message, { issues });
  };

export const invalidRequest = invalid("INVALID_REQUEST");
/** Creates an `INVALID_INPUTS` error. Issue codes are dropped, because only planning uses them. */
export const invalidInputs = (issues: Issue[]): DomainError => invalid("INVALID_INPUTS")(issues.map(({ code: _, ...issue }) => issue));

export const preconditionFailed = (message: string): DomainError => new DomainError("precondition", "PRECONDITION_FAILED", message);

export const unavailable = (message: string, retryAfterSeconds = 1): DomainError =>
  new DomainError("unavailable", "SERVICE_UNAVAILABLE", message, { retryAfter: retryAfterSeconds });

/** @param queueLimit how many more runs can be queued; only if the queue is full */
export const tooManyRuns = (limit: number, queueLimit?: number): DomainError => {
  const message = `at most ${limit} executions can run at once`;
  return queueLimit === undefined
    ? new DomainError("exhausted", "CONCURRENCY_LIMIT_EXCEEDED", message, { limit, retryAfter: 1 })
    : new DomainError("exhausted", "CONCURRENCY_LIMIT_EXCEEDED", `${message}, and the queue is full: retry later`, {
        limit,
        queueLimit,
        retryAfter: 1,
      });
};

export const tooManyWaiting = (limit: number): DomainError =>
  new DomainError(
    "exhausted",
    "CONCURRENCY_LIMIT_EXCEEDED",
    `at most ${limit} executions with an approval can be unfinished: decide or cancel some of them`,
    { limit, retryAfter: 60 },
  );

/** An account that awaits approval can only read and edit its draft. */
export const accountNotApproved = (): DomainError =>
  new DomainError(
    "forbidden",
    "ACCOUNT_NOT_APPROVED",
    "this account awaits approval: it can't run, quote, upload, publish templates or create keys yet",
  );

export const accountSuspended = (): DomainError => new DomainError("forbidden", "ACCOUNT_SUSPENDED", "this account is suspended");

/** An account scheduled for erasure can only read, export its data and cancel the erasure. */
export const accountLeaving = (): DomainError =>
  new DomainError(
    "forbidden",
    "ACCOUNT_LEAVING",
    "this account is scheduled for deletion: it can't run, quote, upload or create keys unless the deletion is cancelled",
  );

/** @param required the capability that the role grants */
export const roleDenied = (role: Role, required = `role:${role}`): DomainError =>
  new DomainError("forbidden", "CAPABILITY_DENIED", `the role ${role} is required in this organization`, {
    required,
    requiredRole: role,
  });

/** A missing workflow and another user's workflow get one error, so that callers can't probe for slugs. */
export const workflowNotFound = (): DomainError => new DomainError("not_found", "WORKFLOW_NOT_FOUND", "workflow not found");
/** @param version as it appears in the request */
export const versionNotFound = (version?: number): DomainError =>
  new DomainError(
    "not_found",
    "VERSION_NOT_FOUND",
    `the workflow has no ${version === undefined || version < 1 ? "such version" : `published version ${version}`}`,
  );
/**
 * @param alias as it appears in the request
 * @param aliases names that the caller can see
 */
export const aliasNotFound = (alias: string, aliases: readonly string[] = []): DomainError =>
  new DomainError("not_found", "ALIAS_NOT_FOUND", `the workflow has no alias ${alias}${didYouMean(alias, aliases)}`);
export const executionNotFound = (): DomainError => new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");

/** Matches messages of version 1.0.0 that may quote URLs, hosts, headers or values. Rows written by that version have no public message. */
const QUOTES_GRAPH = /:\/\/|\blocalhost\b|\w\.[a-z]{2,}|\d\.\d{1,3}\.\d|\bheader\b|is the text "/i;
const PLACE = /^node [^:]*: /;

const openMessage = (message: string): string => {
  const place = PLACE.exec(message)?.[0] ?? "";
  return QUOTES_GRAPH.test(message) ? `${QUOTES_GRAPH.test(place) ? "" : place}it failed; the workflow's author can read why` : message;
};

/** The error as shown to readers who can't see the graph. It omits the provider's response, which may repeat the request. */
export const publicError = <T extends { message: string; publicMessage?: string | undefined; providerBody?: unknown }>(error: T): T => {
  const { publicMessage, providerBody: _, ...rest } = error;
  return { ...rest, message: publicMessage || openMessage(error.message) } as T;
};
