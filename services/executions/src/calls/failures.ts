import { DomainError, type ErrorMetadata } from "@nodeloom/kernel";
import type { ModelCall, StepFailure } from "../run/calls";
import { TIMING } from "../run/timing";
import type { CallClock } from "./clock";
import { pointer, ProviderError, readJson } from "@nodeloom/providers";

/** Decides which failed calls can be sent again, when, and how the others end. */

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
/** Used by Anthropic. */
const OVERLOADED = 529;
const FIRST_CLIENT_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
/** Minimum pause after a provider asked to wait. */
const MIN_PAUSE_MS = 250;
/** Share of the pause by which callers that were given the same time are spread. */
const JITTER = 0.2;
const MAX_JITTER_MS = 1_000;

export interface Classification {
  again: boolean;
  /** When to send again, if known; otherwise after the usual pause. */
  afterMs?: number;
  /** The provider certainly didn't take it, so its claim can be returned. */
  notReceived: boolean;
}

/** Statuses that may mean that the provider has, or is processing, an earlier copy of the request. */
const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** For an error inside a successful response. */
const OK = 200;

/** True if a status means that the request was read and rejected. */
const isRefusal = (status = FIRST_SERVER_ERROR): boolean =>
  status === OK || (status >= FIRST_CLIENT_ERROR && status < FIRST_SERVER_ERROR && !AMBIGUOUS_STATUSES.has(status));

/** Daily quotas of Google, found by name because the body may be truncated. */
const DAILY_QUOTA = /"quotaId":\s*"[^"]*PerDay/;

/** True if our account with the provider is empty. Providers use 429 for this as well, but waiting doesn't help. */
const isSpent = ({ body = "" }: ProviderError): boolean => {
  const answer = readJson(body)?.value;
  return ["/error/code", "/error/type"].some((place) => pointer(answer, place) === "insufficient_quota") || DAILY_QUOTA.test(body);
};

/** A 503 before the request was processed. Google: overloaded. llama.cpp: loading the model. */
const isNotReady = (answer: unknown): boolean =>
  pointer(answer, "/error/status") === "UNAVAILABLE" || pointer(answer, "/error/type") === "unavailable_error";

/** True if a provider is only overloaded. For other providers, 503 means that they are down. */
const isOverloaded = ({ status, body = "" }: ProviderError): boolean =>
  status === OVERLOADED || (status === UNAVAILABLE && isNotReady(readJson(body)?.value));

/** Google's form of Retry-After, in the body. */
const RETRY_DELAY = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/;
const retryDelayMs = ({ body = "" }: ProviderError): number | undefined => {
  const seconds = RETRY_DELAY.exec(body)?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
};

/**
 * The only table of what can be sent again: a request that certainly wasn't taken, or one whose repetition the provider recognises
 * (`idempotent`). An overloaded provider that gives no time is retried with growing pauses.
 */
export const classifyFailure = (error: ProviderError, idempotent: boolean): Classification => {
  switch (error.kind) {
    case "unavailable":
      return { again: true, afterMs: error.retryAfterMs ?? 0, notReceived: true };
    case "unreachable":
      return { again: true, notReceived: true };
    case "ambiguous":
      return { again: idempotent, notReceived: false };
    case "refused": {
      const { status } = error;
      const isBusyNow = status === TOO_MANY_REQUESTS || status === UNAVAILABLE || status === OVERLOADED;
      const retryAfterMs = error.retryAfterMs ?? (isSpent(error) ? undefined : retryDelayMs(error));
      if (isBusyNow && retryAfterMs !== undefined) return { again: true, afterMs: retryAfterMs, notReceived: true };
      if ((status === TOO_MANY_REQUESTS && !isSpent(error)) || isOverloaded(error)) return { again: true, notReceived: true };
      return { again: false, notReceived: isRefusal(status) };
    }
    default:
      return { again: false, notReceived: false };
  }
};

/** True if a failure means an unavailable provider and not a rejected request. */
export const isAway = (error: unknown): boolean => {
  if (!(error instanceof ProviderError)) return false;
  if (error.kind === "unreachable" || error.kind === "ambiguous") return true;
  return error.kind === "refused" && (error.status ?? 0) >= FIRST_SERVER_ERROR;
};

/** True if a failed submission may still have reached its provider. */
export const mayHaveArrived = (error: unknown): boolean =>
  error instanceof ProviderError ? error.kind === "ambiguous" : error instanceof DomainError && error.metadata.jobMayRun === true;

/** The call wasn't made because its run is being cancelled. */
export class RunCancelled extends Error {
  override readonly name = "RunCancelled";
  override readonly message = "the run is being cancelled";
}

/** A step that can be tried again later. If no time is left, it fails with `problem`. */
export class TryAgain extends Error {
  override readonly name = "TryAgain";
  constructor(
    readonly problem: DomainError,
    readonly afterMs: number,
  ) {
    super(problem.message);
  }
}

export const pauseFor = (afterMs: number): number => {
  const pause = Math.max(MIN_PAUSE_MS, afterMs);
  return Math.ceil(pause + Math.random() * Math.min(MAX_JITTER_MS, pause * JITTER));
};

/** True if a failed poll still shows that the provider is alive. */
export const isBusy = (error: ProviderError): boolean => error.status === TOO_MANY_REQUESTS;

/** A failure that must not be retried. */
export const final = (
  reason: "EXECUTION_FAILED" | "PROVIDER_SUBMIT_FAILED" | "PROVIDER_RESPONSE_INCOMPLETE",
  message: string,
  metadata: ErrorMetadata = {},
): DomainError => new DomainError("failed", reason, message, metadata);

/** A final failure of what the platform called: a provider, or the address of an http-request node. */
export const providerFailed = (message: string, metadata: ErrorMetadata = {}): DomainError =>
  final("EXECUTION_FAILED", message, { ...metadata, fault: "provider" });

/** A final failure by what the run was given: its inputs, its graph or the runner's settings. */
export const inputFailed = (message: string, metadata: ErrorMetadata = {}): DomainError =>
  final("EXECUTION_FAILED", message, { ...metadata, fault: "input" });

/** For failures after which a fallback can be called: the provider certainly did nothing. */
export const MAY_TRY_ANOTHER = { mayTryAnother: true } as const satisfies StepFailure;

/** For failures whose message may quote the address of a file or host. */
export const QUOTES_ADDRESS = { quotesAddress: true } as const satisfies StepFailure;

/** Failures whose message comes from the connection, not from the provider. */
const OF_CONNECTION: ReadonlySet<ProviderError["kind"]> = new Set(["unreachable", "ambiguous", "unavailable"]);
const quoting = ({ kind }: ProviderError): StepFailure => (OF_CONNECTION.has(kind) ? QUOTES_ADDRESS : {});

/** Timeouts of proxies, which may have passed the request on. */
const GATEWAY_TIMEOUTS: ReadonlySet<number> = new Set([504, 524]);

/** True if a failed submission certainly has no effect. */
const isCertain = ({ kind, status = FIRST_SERVER_ERROR }: ProviderError): boolean =>
  kind !== "ambiguous" && !(kind === "refused" && (AMBIGUOUS_STATUSES.has(status) || GATEWAY_TIMEOUTS.has(status)));

const submitFailure = (model: string, error: ProviderError): DomainError =>
  final("PROVIDER_SUBMIT_FAILED", `${model}: ${error.message}`, {
    ...(isCertain(error) ? MAY_TRY_ANOTHER : {}),
    ...quoting(error),
    ...(error.status === undefined ? {} : { providerStatus: error.status }),
    ...(error.body === undefined ? {} : { providerBody: error.body }),
    ...(error.kind === "ambiguous" ? { jobMayRun: true } : {}),
    fault: "provider",
  });

/**
 * Maps a failed submission or text call to a retry after the usual pause, a retry at a time, or a final failure. A pause that would outlast
 * the retries isn't started.
 */
export const afterFailure = (call: ModelCall, error: ProviderError, idempotent: boolean, clock: CallClock): Error => {
  if (error.kind === "incomplete") return final("PROVIDER_RESPONSE_INCOMPLETE", `${call.model}: ${error.message}`, MAY_TRY_ANOTHER);
  const hasNext = call.alternative?.isLast === false && isCertain(error);
  const until = clock.triesUntil(hasNext ? TIMING.submitBeforeAnother : TIMING.submitTotal);
  const { again, afterMs } = classifyFailure(error, idempotent);
  if (again && afterMs === undefined && Date.now() < until) return error;
  const isCalled = error.kind !== "unavailable" && error.kind !== "unreachable";
  const problem = isCalled
    ? submitFailure(call.model, error)
    : providerFailed(`${call.model}: ${error.message}`, { ...MAY_TRY_ANOTHER, ...quoting(error) });
  if (!again || afterMs === undefined) return problem;
  const pauseMs = pauseFor(afterMs);
  return Date.now() + pauseMs + TIMING.submitReserve > until ? problem : new TryAgain(problem, pauseMs);
};
