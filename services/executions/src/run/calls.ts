import type { AuthorFiles, HttpCall, JsonSchema, MediaFamily, MediaValue, Price } from "@nodeloom/kernel/graph";
import type { CallFingerprint, CallContext, CallResult, CancelReport, RunError, RunInput } from "./types";

/** What a call's inputs say about the origin of its files. */
export interface CallOrigin {
  /** Input files: ids or addresses. */
  parents: string[];
  /** Prompts and settings as JSON; empty if they aren't stored. */
  inputsJson: string;
  /** Words by which the files are found; none if they aren't stored. */
  words: string[];
  /** The first words of the prompt; empty if they aren't stored. */
  title: string;
}

export interface SubmittedJob {
  requestId: string;
  handle?: Record<string, string>;
  /** Milliseconds since the epoch, by the clock of the submitting process. */
  submittedAt?: number;
  /** For the files that the job makes, because its call is followed without its inputs. */
  origin?: CallOrigin;
}

export interface ModelCall extends CallContext, AuthorFiles {
  model: string;
  inputs: Record<string, unknown>;
  /** Price fixed by planning. */
  price: Price;
  provenance?: RunInput["provenance"];
  schema?: JsonSchema;
  /** The earlier answer, and the reasons why it doesn't match the schema. */
  repair?: { answer: string; problems: string[] };
  /** Set after the request was sent. */
  asked?: CallFingerprint;
  /** Set while a job is followed. */
  origin?: CallOrigin;
}

export interface HttpNodeCall extends CallContext {
  call: HttpCall;
  /** Alias that selected the run's version; absent if no alias was used. HTTP nodes send the values that secrets have for this alias. */
  alias?: string | undefined;
  /** Slug of the workflow whose graph contains the node; absent if the request sends no secrets. */
  workflow?: string;
}

export interface TransformCall extends CallContext, AuthorFiles {
  operation: string;
  /** Inputs in which files are addresses or ids. */
  inputs: Record<string, unknown>;
  provenance?: RunInput["provenance"];
}

/** A file in a result that must be stored. */
export interface FileToKeep extends CallContext, AuthorFiles {
  port: string;
  family: MediaFamily;
  /** An address or an id. */
  reference: string;
  /** True if the file comes from the graph or the caller, and not from a response to a call. */
  given: boolean;
}

export interface HttpResult {
  status: number;
  body: unknown;
  /** Set for an image, video or audio file. The body is null in that case. */
  file?: MediaValue;
}

export interface CancelResult {
  report: CancelReport;
  finished: CallResult | null;
  /** Cost of the finished part, if moderation refused it. */
  refused?: RefusedCost;
  message?: string;
}

/** Cost of a refused output. The call is charged. */
export interface RefusedCost {
  costMicroUsd: number;
  requestId: string | null;
}

/** Details of a failed step for the workflow. */
export interface StepFailure {
  /** True if the message quotes an address, so that only readers of the graph can see it. */
  quotesAddress?: boolean;
  /** True if the step was abandoned, but its job may still run at the provider. */
  jobMayRun?: boolean;
  /** True if the provider certainly did nothing, so that a fallback can be called. */
  mayTryAnother?: boolean;
  fault?: RunError["fault"];
  /** Cost of the output, if moderation refused it. */
  refused?: RefusedCost;
}

export interface FollowedJob {
  job: SubmittedJob;
  result?: CallResult;
}

export interface ReuseInput {
  /** Executions whose calls can be reused, in order of preference. */
  sources: string[];
  calls: (ModelCall | HttpNodeCall | TransformCall)[];
}
