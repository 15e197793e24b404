/** Code of a request without a response. */
export const NETWORK_ERROR = "NETWORK_ERROR";

export interface NodeloomErrorOptions {
  /** HTTP status; 0 without a response. 500 for a run that failed after it was accepted. */
  status: number;
  /** Machine-readable code; undefined if a workflow wasn't found. */
  code: string | undefined;
  message: string;
  /** Other members of the response: `required`, `issues`, `providerStatus`, … */
  details?: Readonly<Record<string, unknown>>;
  requestId?: string | undefined;
  cause?: unknown;
}

/** Thrown for every failure of the service or the connection. */
export class NodeloomError extends Error {
  override readonly name = "NodeloomError";
  readonly status: number;
  readonly code: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** Id of the request in the service's logs. */
  readonly requestId: string | undefined;

  constructor({ status, code, message, details = {}, requestId, cause }: NodeloomErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }

  /** Id of the run that the error concerns, if any. */
  get executionId(): string | undefined {
    const { executionId } = this.details;
    return typeof executionId === "string" ? executionId : undefined;
  }
}
