import { DomainError } from "@nodeloom/kernel";
import { ProviderError } from "../providers";

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;
const FIRST_CLIENT_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
/** Shortest pause before a provider that asked to wait is called again, whatever it said. */
const MIN_PAUSE_MS = 250;
/** Spread over callers that were told to come back at the same moment, as a share of the pause. */
const JITTER = 0.2;
const MAX_JITTER_MS = 1_000;

/** What a failed submission, or a failed call of a text model, allows. */
export interface Verdict {
  /** Whether it is sent again. */
  again: boolean;
  /** When, where that is known; otherwise after the usual pause. */
  afterMs?: number;
  /** Whether the provider certainly did not take it, so that a claim on it may be given back. */
  tookNothing: boolean;
}

/** Statuses by which a provider may say that it has, or is busy with, an earlier sending of the same request. */
const AMBIGUOUS_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** Whether a status says that a request was looked at and not taken. */
const isRefusal = (status = FIRST_SERVER_ERROR): boolean =>
  status >= FIRST_CLIENT_ERROR && status < FIRST_SERVER_ERROR && !AMBIGUOUS_STATUSES.has(status);

/**
 * The one table of what may be sent again: what certainly was not taken, or what may have been taken by a provider that
 * recognises a repetition (`idempotent`). A provider that is too busy must say for how long: otherwise it has refused.
 */
export const judge = (error: ProviderError, idempotent: boolean): Verdict => {
  switch (error.kind) {
    case "unavailable":
      return { again: true, afterMs: error.retryAfterMs ?? 0, tookNothing: true };
    case "unreachable":
      return { again: true, tookNothing: true };
    case "ambiguous":
      return { again: idempotent, tookNothing: false };
    case "refused": {
      const { status, retryAfterMs } = error;
      const saysWhen = retryAfterMs !== undefined && (status === TOO_MANY_REQUESTS || status === UNAVAILABLE);
      if (saysWhen) return { again: true, afterMs: retryAfterMs, tookNothing: true };
      return { again: false, tookNothing: isRefusal(status) };
    }
    default:
      return { again: false, tookNothing: false };
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
export class CalledOff extends Error {
  override readonly name = "CalledOff";
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
