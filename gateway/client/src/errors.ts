/** The code of a request that got no answer. */
export const NETWORK_ERROR = "NETWORK_ERROR";

export interface NodeloomErrorOptions {
  /** HTTP status; 0 when there was no answer. For a run that failed after it was accepted: 500. */
  status: number;
  /** Machine-readable; undefined where a workflow was not found. */
  code: string | undefined;
  message: string;
  /** The other members of the answer: `required`, `issues`, `providerStatus`, … */
  details?: Readonly<Record<string, unknown>>;
  requestId?: string | undefined;
  cause?: unknown;
}

/** Every failure that the service or the way to it causes. */
export class NodeloomError extends Error {
  override readonly name = "NodeloomError";
  readonly status: number;
  readonly code: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** Names the request in the service's logs. */
  readonly requestId: string | undefined;

  constructor({ status, code, message, details = {}, requestId, cause }: NodeloomErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }

  /** The run that the error is about, when there is one. */
  get executionId(): string | undefined {
    const { executionId } = this.details;
    return typeof executionId === "string" ? executionId : undefined;
  }
}
