import type { AuthorFiles, HttpCall, JsonSchema, MediaFamily, MediaValue, Price } from "@nodeloom/kernel/graph";
import type { Asked, CallContext, CallResult, CancelReport, RunError, RunInput } from "./types";

export interface SubmittedJob {
  requestId: string;
  handle?: Record<string, string>;
  /** Milliseconds since the epoch, by the clock of the submitting process. */
  submittedAt?: number;
}

export interface ModelCall extends CallContext, AuthorFiles {
  model: string;
  inputs: Record<string, unknown>;
  /** Price at planning. */
  price: Price;
  provenance?: RunInput["provenance"];
  schema?: JsonSchema;
  /** The earlier answer, and why it doesn't fit the schema. */
  repair?: { answer: string; problems: string[] };
  /** Set once the request is sent. */
  asked?: Asked;
}

export interface HttpNodeCall extends CallContext {
  call: HttpCall;
  /** The alias that selected the run's version; absent for none. Its values of secrets are sent. */
  alias?: string | undefined;
}

export interface TransformCall extends CallContext, AuthorFiles {
  operation: string;
  /** Files are addresses or ids. */
  inputs: Record<string, unknown>;
  provenance?: RunInput["provenance"];
}

/** A file in a result that must be stored. */
export interface FileToKeep extends CallContext, AuthorFiles {
  port: string;
  family: MediaFamily;
  /** An address or an id. */
  reference: string;
  /** The graph or the caller named it, not a response to a call. */
  given: boolean;
}

export interface HttpResult {
  status: number;
  body: unknown;
  /** For a picture, video or sound; the body is null then. */
  file?: MediaValue;
}

export interface CancelResult {
  report: CancelReport;
  finished: CallResult | null;
  /** The finished part, which moderation refused. */
  refused?: RefusedCost;
  /** Reason. */
  message?: string;
}

/** The call is charged. */
export interface RefusedCost {
  costMicroUsd: number;
  requestId: string | null;
}

/** Details of a failed step for the workflow. */
export interface StepFailure {
  /** The message quotes an address: only readers of the graph may see it. */
  quotesAddress?: boolean;
  /** The step was given up, but its job may still run at the provider. */
  jobMayRun?: boolean;
  /** The provider certainly did nothing: a fallback can be called. */
  mayTryAnother?: boolean;
  fault?: RunError["fault"];
  /** Moderation refused the output. */
  refused?: RefusedCost;
}

export interface FollowedJob {
  job: SubmittedJob;
  result?: CallResult;
}

export interface ReuseInput {
  /** Executions to reuse calls from, nearest first. */
  sources: string[];
  calls: (ModelCall | HttpNodeCall | TransformCall)[];
}
