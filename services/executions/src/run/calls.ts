/** Calls of nodes: what they are made with, and what they give. */
import type { AuthorFiles, HttpCall, JsonSchema, MediaFamily, MediaValue, Price } from "@nodeloom/kernel/graph";
import type { Asked, CallContext, CallResult, CancelReport, RunInput } from "./types";

export interface SubmittedJob {
  requestId: string;
  handle?: Record<string, string>;
  /** In milliseconds since the epoch, by the clock of the process that submitted it. */
  submittedAt?: number;
  /** How long it may be followed without a sign of life. */
  heartbeatTimeoutMs?: number;
}

export interface ModelCall extends CallContext, AuthorFiles {
  model: string;
  inputs: Record<string, unknown>;
  /** As it was when the run was planned. */
  price: Price;
  provenance?: RunInput["provenance"];
  schema?: JsonSchema;
  /** What was answered before, and why that does not fit the schema. */
  repair?: { answer: string; problems: string[] };
  /** Known where it is sent. */
  asked?: Asked;
}

export interface HttpNodeCall extends CallContext {
  call: HttpCall;
}

/** One operation on files. */
export interface TransformCall extends CallContext, AuthorFiles {
  operation: string;
  /** Files are addresses or ids. */
  inputs: Record<string, unknown>;
  provenance?: RunInput["provenance"];
}

/** A file that a result names and that is to be put into our storage. */
export interface FileToKeep extends CallContext, AuthorFiles {
  port: string;
  family: MediaFamily;
  /** An address or an id. */
  reference: string;
  /** The graph or its caller named it, not something that the run called. */
  given: boolean;
}

export interface HttpResult {
  status: number;
  body: unknown;
  /** Of an answer that is a picture, a video or a sound: its body is null then. */
  file?: MediaValue;
}

export interface CancelResult {
  report: CancelReport;
  finished: CallResult | null;
  /** What had finished, and was refused by moderation. */
  refused?: RefusedCost;
  /** Why. */
  message?: string;
}

/** Of a call whose output moderation refused: it is charged. */
export interface RefusedCost {
  costMicroUsd: number;
  requestId: string | null;
}

/** What the workflow learns of a failed step besides the run's error. */
export interface StepFailure {
  /** Its message quotes an address: only those who can read the graph may see it. */
  quotesAddress?: boolean;
  /** The step was given up, but its job at the provider was not seen to end. */
  jobMayRun?: boolean;
  /** The provider did not do it, for certain: another model may be called in its place. */
  mayTryAnother?: boolean;
  /** Moderation refused what the call gave. */
  refused?: RefusedCost;
}

export interface FollowedJob {
  job: SubmittedJob;
  result?: CallResult;
}

/** The calls of one step of a rerun. */
export interface ReuseInput {
  /** Executions that calls are reused from, the nearest first. */
  sources: string[];
  calls: (ModelCall | HttpNodeCall | TransformCall)[];
}
