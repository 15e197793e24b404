import { DomainError, type ErrorMetadata } from "@nodeloom/kernel";
import type { ModelCall, StepFailure } from "../run/calls";
import { TIMING } from "../run/timing";
import type { CallClock } from "./clock";
import { pointer, ProviderError, readJson } from "@nodeloom/providers";

/** What failed calls of providers mean: what may be sent again, when, and what becomes of the rest. */

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
/** Anthropic's. */
const OVERLOADED = 529;
const FIRST_CLIENT_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
/** Shortest pause before a provider that asked to wait is called again, whatever it said. */
const MIN_PAUSE_MS = 250;
/** Spread over callers that were told to come back at the same moment, as a share of the pause. */
const JITTER = 0.2;
const MAX_JITTER_MS = 1_000;

/** What a failed submission, or a failed call of a text model, allows. */
export interface Classification {
  /** Whether it is sent again. */
  again: boolean;
  /** When, where that is known; otherwise after the usual pause. */
  afterMs?: number;
  /** Whether the provider certainly did not take it, so that a claim on it may be given back. */
  notReceived: boolean;
}

/** Statuses by which a provider may say that it has, or is busy with, an earlier sending of the same request. */
const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** Of an answer that was well received and says inside that the request was not taken. */
const OK = 200;

/** Whether a status says that a request was looked at and not taken. */
const isRefusal = (status = FIRST_SERVER_ERROR): boolean =>
  status === OK || (status >= FIRST_CLIENT_ERROR && status < FIRST_SERVER_ERROR && !AMBIGUOUS_STATUSES.has(status));

/** Google's quotas of a day, by their names in a refusal that may have been cut. */
const DAILY_QUOTA = /"quotaId":\s*"[^"]*PerDay/;

/** Whether our account there has nothing left, which providers tell by 429, too: waiting does not help. */
const isSpent = ({ body = "" }: ProviderError): boolean => {
  const answer = readJson(body)?.value;
  return ["/error/code", "/error/type"].some((place) => pointer(answer, place) === "insufficient_quota") || DAILY_QUOTA.test(body);
};

/** A 503 that says that the request was not looked at. Google: too much to do. llama.cpp: the model is being loaded. */
const isNotReady = (answer: unknown): boolean =>
  pointer(answer, "/error/status") === "UNAVAILABLE" || pointer(answer, "/error/type") === "unavailable_error";

/** Whether a provider can't take any request for now. Others answer 503 where they are down. */
const isOverloaded = ({ status, body = "" }: ProviderError): boolean =>
  status === OVERLOADED || (status === UNAVAILABLE && isNotReady(readJson(body)?.value));

/** Google's way of saying when: in its answer, as seconds. */
const RETRY_DELAY = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/;
const retryDelayMs = ({ body = "" }: ProviderError): number | undefined => {
  const seconds = RETRY_DELAY.exec(body)?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
};

/**
 * The one table of what may be sent again: what certainly was not taken, or what may have been taken by a provider that
 * recognises a repetition (`idempotent`). A provider that is too busy and does not say for how long is tried after growing pauses.
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

/** Whether a failure says that the provider is away, and not that it would not do what was asked. */
export const isAway = (error: unknown): boolean => {
  if (!(error instanceof ProviderError)) return false;
  if (error.kind === "unreachable" || error.kind === "ambiguous") return true;
  return error.kind === "refused" && (error.status ?? 0) >= FIRST_SERVER_ERROR;
};

/** Whether a submission that failed may have reached its provider all the same. */
export const mayHaveArrived = (error: unknown): boolean =>
  error instanceof ProviderError ? error.kind === "ambiguous" : error instanceof DomainError && error.metadata.jobMayRun === true;

/** A call that was not made, because its run is being cancelled. */
export class RunCancelled extends Error {
  override readonly name = "RunCancelled";
  override readonly message = "the run is being cancelled";
}

/** A step that failed for now. `problem` is what becomes of it when there is no time left to try again. */
export class TryAgain extends Error {
  override readonly name = "TryAgain";
  constructor(
    readonly problem: DomainError,
    readonly afterMs: number,
  ) {
    super(problem.message);
  }
}

/** The pause before a call that is made again on request. */
export const pauseFor = (afterMs: number): number => {
  const pause = Math.max(MIN_PAUSE_MS, afterMs);
  return Math.ceil(pause + Math.random() * Math.min(MAX_JITTER_MS, pause * JITTER));
};

/** Whether a failed poll is a sign of life all the same: a provider that says "not so often" is there. */
export const isBusy = (error: ProviderError): boolean => error.status === TOO_MANY_REQUESTS;

/** A failure the run must not retry. */
export const final = (
  reason: "EXECUTION_FAILED" | "PROVIDER_SUBMIT_FAILED" | "PROVIDER_RESPONSE_INCOMPLETE",
  message: string,
  metadata: ErrorMetadata = {},
): DomainError => new DomainError("failed", reason, message, metadata);

/** Of a failure after which another model may be called: the provider did not do it, for certain. */
export const MAY_TRY_ANOTHER = { mayTryAnother: true } as const satisfies StepFailure;

/** Of a failure whose message may quote the address of a file or host. */
export const QUOTES_ADDRESS = { quotesAddress: true } as const satisfies StepFailure;

/** Kinds of failures whose message is not in a provider's words, and may have the error of a connection. */
const OF_CONNECTION: ReadonlySet<ProviderError["kind"]> = new Set(["unreachable", "ambiguous", "unavailable"]);
const quoting = ({ kind }: ProviderError): StepFailure => (OF_CONNECTION.has(kind) ? QUOTES_ADDRESS : {});

/** Statuses of what stands before a provider, which may have taken the request before its own time was over. */
const GATEWAY_TIMEOUTS: ReadonlySet<number> = new Set([504, 524]);

/** Whether a failed submission leaves no doubt that nothing comes of it. */
const isCertain = ({ kind, status = FIRST_SERVER_ERROR }: ProviderError): boolean =>
  kind !== "ambiguous" && !(kind === "refused" && (AMBIGUOUS_STATUSES.has(status) || GATEWAY_TIMEOUTS.has(status)));

const submitFailure = (model: string, error: ProviderError): DomainError =>
  final("PROVIDER_SUBMIT_FAILED", `${model}: ${error.message}`, {
    ...(isCertain(error) ? MAY_TRY_ANOTHER : {}),
    ...quoting(error),
    ...(error.status === undefined ? {} : { providerStatus: error.status }),
    ...(error.body === undefined ? {} : { providerBody: error.body }),
    ...(error.kind === "ambiguous" ? { jobMayRun: true } : {}),
  });

/**
 * What a failed submission (or text call) becomes: an error that is tried again after the usual pause, one that says when,
 * or the end of the step. Pauses that would not end while the provider is tried again are not begun.
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
    : final("EXECUTION_FAILED", `${call.model}: ${error.message}`, { ...MAY_TRY_ANOTHER, ...quoting(error) });
  if (!again || afterMs === undefined) return problem;
  const pauseMs = pauseFor(afterMs);
  return Date.now() + pauseMs + TIMING.submitReserve > until ? problem : new TryAgain(problem, pauseMs);
};
