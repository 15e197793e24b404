import { DomainError, type ErrorMetadata } from "@nodeloom/kernel";
import type { ModelCall, StepFailure } from "../run/calls";
import { TIMING } from "../run/timing";
import type { CallClock } from "./clock";
import { pointer, ProviderError, readJson } from "@nodeloom/providers";

/** Decides which failed calls are retried and when, and which error the other calls get. */

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
/** Status that Anthropic uses for overload. */
const OVERLOADED = 529;
const FIRST_CLIENT_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
/** Minimum pause after a provider asked the caller to wait. */
const MIN_PAUSE_MS = 250;
/** Random share of the pause, which spreads callers that got the same retry time. */
const JITTER = 0.2;
const MAX_JITTER_MS = 1_000;

export interface Classification {
  again: boolean;
  /** When to send again, in milliseconds; undefined for the default pause. */
  afterMs?: number;
  /** True if the provider certainly didn't receive the request, so the call's claim can be removed. */
  notReceived: boolean;
}

/** Statuses after which the provider may have, or may be processing, an earlier copy of the request. */
const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** Status of an error inside a successful response. */
const OK = 200;

/** True if a status means that the request was read and rejected. */
const isRefusal = (status = FIRST_SERVER_ERROR): boolean =>
  status === OK || (status >= FIRST_CLIENT_ERROR && status < FIRST_SERVER_ERROR && !AMBIGUOUS_STATUSES.has(status));

/** Google's daily quotas, found by name in the text because the body may be truncated. */
const DAILY_QUOTA = /"quotaId":\s*"[^"]*PerDay/;

/** True if the platform's account with the provider has no credit left. Providers also use 429 for this case, but waiting doesn't help. */
const isSpent = ({ body = "" }: ProviderError): boolean => {
  const answer = readJson(body)?.value;
  return ["/error/code", "/error/type"].some((place) => pointer(answer, place) === "insufficient_quota") || DAILY_QUOTA.test(body);
};

/**
 * True for a 503 that was sent before the request was processed. Google sends it if it is overloaded, llama.cpp while it loads the model.
 */
const isNotReady = (answer: unknown): boolean =>
  pointer(answer, "/error/status") === "UNAVAILABLE" || pointer(answer, "/error/type") === "unavailable_error";

/** True if a provider is only overloaded. Other providers use 503 if they are down. */
const isOverloaded = ({ status, body = "" }: ProviderError): boolean =>
  status === OVERLOADED || (status === UNAVAILABLE && isNotReady(readJson(body)?.value));

/** Google sends the retry delay in the body. */
const RETRY_DELAY = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/;
const retryDelayMs = ({ body = "" }: ProviderError): number | undefined => {
  const seconds = RETRY_DELAY.exec(body)?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
};

/**
 * Decides whether a request can be sent again: yes if the provider certainly didn't accept it, or recognizes a repetition (`idempotent`).
 * No other code decides that. An overloaded provider that gives no retry time is retried with growing pauses.
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

/** True if the provider is unavailable. False if it rejected the request. */
export const isUnavailableError = (error: unknown): boolean => {
  if (!(error instanceof ProviderError)) return false;
  if (error.kind === "unreachable" || error.kind === "ambiguous") return true;
  return error.kind === "refused" && (error.status ?? 0) >= FIRST_SERVER_ERROR;
};

/** True if a failed submission may still have reached its provider. */
export const mayHaveArrived = (error: unknown): boolean =>
  error instanceof ProviderError ? error.kind === "ambiguous" : error instanceof DomainError && error.metadata.jobMayRun === true;

/** Thrown if a call isn't made because its run is being cancelled. */
export class RunCancelled extends Error {
  override readonly name = "RunCancelled";
  override readonly message = "the run is being cancelled";
}

/** Thrown if a step can be retried later. If no time is left, the step fails with `problem`. */
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

/** True if a failed poll still shows that the provider responds. */
export const isBusy = (error: ProviderError): boolean => error.status === TOO_MANY_REQUESTS;

/** Returns a failure that must not be retried. */
export const final = (
  reason: "EXECUTION_FAILED" | "PROVIDER_SUBMIT_FAILED" | "PROVIDER_RESPONSE_INCOMPLETE",
  message: string,
  metadata: ErrorMetadata = {},
): DomainError => new DomainError("failed", reason, message, metadata);

/** Returns a final failure caused by a provider or by the address of an http-request node. */
export const providerFailed = (message: string, metadata: ErrorMetadata = {}): DomainError =>
  final("EXECUTION_FAILED", message, { ...metadata, fault: "provider" });

/** Returns a final failure caused by the run's inputs, its graph or the runner's settings. */
export const inputFailed = (message: string, metadata: ErrorMetadata = {}): DomainError =>
  final("EXECUTION_FAILED", message, { ...metadata, fault: "input" });

/** Marks a failure after which a fallback can be called, because the provider certainly did nothing. */
export const MAY_TRY_ANOTHER = { mayTryAnother: true } as const satisfies StepFailure;

/** Marks a failure whose message may quote the address of a file or host. */
export const QUOTES_ADDRESS = { quotesAddress: true } as const satisfies StepFailure;

/** Failures whose message comes from the connection and not from the provider. */
const OF_CONNECTION: ReadonlySet<ProviderError["kind"]> = new Set(["unreachable", "ambiguous", "unavailable"]);
const quoting = ({ kind }: ProviderError): StepFailure => (OF_CONNECTION.has(kind) ? QUOTES_ADDRESS : {});

/** Timeout statuses of proxies. The proxy may have forwarded the request. */
const GATEWAY_TIMEOUTS: ReadonlySet<number> = new Set([504, 524]);

/** True if a failed submission certainly had no effect. */
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
 * Maps a failed submission or text call to a retry after the default pause, a retry at a given time, or a final failure. A pause that would
 * end after the last retry isn't started.
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
