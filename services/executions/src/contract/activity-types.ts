import type { LedgerReport, ReconcileReport, RetentionReport } from "./reports";
import type { AttemptId, DeliveryEnd, Sent } from "./delivery";
import type { CallContext, CallResult, CancelReport, HeldItem, RunEnd, RunInput, RunOutcome } from "./run-types";
import type { AuthorFiles, HoldItem, HttpCall, JsonSchema, MediaFamily, MediaValue, Price } from "@nodeloom/kernel/graph";

/** A job as a provider knows it. */
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
  /** What a language model's answer must be. */
  schema?: JsonSchema;
  /** What was answered before, and why that does not fit the schema. */
  repair?: { answer: string; problems: string[] };
}

export interface HttpNodeCall extends CallContext {
  call: HttpCall;
}

/** A file that a result names and that is to be put into our storage. */
export interface FileToKeep extends CallContext, AuthorFiles {
  /** The member of the result. */
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
}

export interface CancelResult {
  report: CancelReport;
  /** What the provider had finished already. */
  finished: CallResult | null;
}

/** What the workflow learns of a failed step besides the run's error. */
export interface StepFailure {
  /** The step was given up, but its job at the provider was not seen to end. */
  jobMayRun?: boolean;
}

/** Without a number: the run's own delivery. */
export type DeliveryInput = Pick<AttemptId, "executionId" | "keyId"> & Partial<Pick<AttemptId, "delivery">>;

export type ExtendInput = Pick<RunInput, "executionId" | "userId" | "holdId" | "maxMillicredits"> & {
  nodeId: string;
  label?: string;
  items: HoldItem[];
};

export interface Claim {
  executionId: string;
  attempt: number;
  /** The first workflow run of its chain: the same however often its first step is repeated. */
  claimedBy: string;
}

/** What came of a call that was made in the workflow task: declined ones are made by an activity, after a pause if there is to be one. */
export type ShortAnswer<T> = { result: T } | { declined: true; afterMs?: number };

/** A job that was submitted, and what it gave where that did not take long. */
export interface FollowedJob {
  job: SubmittedJob;
  result?: CallResult;
}

/** Calls that are tried in the workflow task itself. */
export interface ShortCalls {
  shortJob(call: ModelCall): Promise<ShortAnswer<FollowedJob>>;
  shortHttpRequest(call: HttpNodeCall): Promise<ShortAnswer<HttpResult>>;
  shortKeepFile(call: FileToKeep): Promise<ShortAnswer<MediaValue>>;
}

/** Short, in the workflow task itself; each is idempotent by execution id. */
export interface LocalActivities extends ShortCalls {
  /** accepted | queued → processing. @returns whether the run is this workflow's to carry */
  claim(claim: Claim): Promise<boolean>;
  /** Holds calls that a list turned out to need. */
  extendHold(input: ExtendInput): Promise<HeldItem[]>;
  settle(input: RunInput, end: RunEnd): Promise<RunOutcome>;
  /** How the delivery ended; null when there is to be another attempt. Idempotent. */
  recordAttempt(id: AttemptId, sent: Sent): Promise<DeliveryEnd | null>;
}

/** Whatever touches a provider or a receiver. */
export interface Activities {
  submit(call: ModelCall): Promise<SubmittedJob>;
  poll(call: ModelCall, job: SubmittedJob): Promise<CallResult>;
  cancelJob(call: ModelCall, job: SubmittedJob): Promise<CancelResult>;
  runText(call: ModelCall): Promise<CallResult>;
  runFiles(call: ModelCall): Promise<CallResult>;
  stopFiles(call: ModelCall): Promise<CancelResult>;
  httpRequest(call: HttpNodeCall): Promise<HttpResult>;
  keepFile(call: FileToKeep): Promise<MediaValue>;
  sendWebhook(id: AttemptId): Promise<Sent>;
  reconcile(): Promise<ReconcileReport>;
  renewDuePlans(): Promise<{ renewed: number; failed: number }>;
  enforceRetention(): Promise<RetentionReport>;
  checkLedger(): Promise<LedgerReport>;
}
