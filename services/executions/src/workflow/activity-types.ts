import type { BundleImport, BundleStep } from "../run/bundle";
import type { AttemptId, DeliveryEnd, AttemptResult } from "../run/delivery";
import type { PassReport } from "../record/look";
import type {
  CancelResult,
  FileToKeep,
  FollowedJob,
  HttpNodeCall,
  HttpResult,
  ModelCall,
  ReuseInput,
  SubmittedJob,
  TransformCall,
} from "../run/calls";
import type { ReusedResult } from "../run/call-record";
import type { CallResult, HeldItem, RunEnd, RunInput, RunOutcome } from "../run/types";
import type { ApprovalOutcome } from "../run/approvals";
import type { HoldItem, MediaValue, OnTimeout, ValueType } from "@nodeloom/kernel/graph";

/** Without a number, the input means the run's own delivery. */
export type DeliveryInput = Pick<AttemptId, "executionId" | "keyId"> & Partial<Pick<AttemptId, "delivery" | "nodeId">>;

export type ExtendInput = Pick<
  RunInput,
  "executionId" | "userId" | "holdId" | "maxMillicredits" | "keyId" | "workflowSlug" | "metadata"
> & {
  nodeId: string;
  label?: string;
  items: HoldItem[];
};

/** A budget alert for the webhook of one key. */
export interface AlertDelivery {
  id: string;
  userId: string;
  keyId: string;
  /** When the share of the budget was reached, in ISO form. */
  at: string;
  /** Body of the message: a JSON object. */
  dataJson: string;
}

export interface NextAttempt {
  /** Number of the attempt, starting at 1. */
  attempt: number;
  pauseMs: number;
}

/** A node that starts to wait for a decision. Times are in milliseconds since the epoch. */
export interface ApprovalInput extends Pick<RunInput, "executionId" | "attempt"> {
  nodeId: string;
  label?: string;
  title: string;
  instructions: string;
  onTimeout: OnTimeout;
  since: number;
  until: number;
  type: ValueType;
  /** Absent in runs of earlier releases. */
  approvers?: readonly string[];
  notStarter?: boolean;
  /** Value under review; absent if the runner can't read it. */
  shown?: { value: unknown };
  /** Executions whose decision on an equal value is reused, in order of preference. */
  sources?: readonly string[];
}

/** `late`: decision at the deadline, unless another decision was made. */
export interface DecisionInput extends Pick<ApprovalInput, "executionId" | "nodeId" | "label"> {
  late?: OnTimeout;
}

export interface ApprovalActivities {
  /** @returns when the wait ends, as fixed by the first attempt, and whether a decision was already made */
  beginWait(input: ApprovalInput): Promise<{ until: number; isDecided?: boolean }>;
  /** @returns null if no decision was made yet */
  takeDecision(input: DecisionInput): Promise<ApprovalOutcome | null>;
  stepAside(run: Pick<RunInput, "userId" | "holdId">): Promise<void>;
  /** @returns the run's position in the queue; 0 if it has a place */
  comeBack(run: Pick<RunInput, "userId" | "holdId" | "concurrency">): Promise<number>;
}

export interface Claim {
  executionId: string;
  attempt: number;
  /** First workflow run of the chain, so that a repeated first step uses the same id. */
  claimedBy: string;
}

/** Result of a call made in the workflow task. If the call is declined, an activity makes it after the pause, if any. */
export type ShortAnswer<T> = { result: T } | { declined: true; afterMs?: number };

export interface ShortCalls {
  shortJob(call: ModelCall): Promise<ShortAnswer<FollowedJob>>;
  shortHttpRequest(call: HttpNodeCall): Promise<ShortAnswer<HttpResult>>;
  shortKeepFile(call: FileToKeep): Promise<ShortAnswer<MediaValue>>;
}

/** Short activities that run inside the workflow task. Each is idempotent by execution id. */
export interface LocalActivities extends ShortCalls, ApprovalActivities {
  /** accepted | queued → processing. @returns true if the run belongs to this workflow */
  claim(claim: Claim): Promise<boolean>;
  extendHold(input: ExtendInput): Promise<HeldItem[]>;
  /** Reuses calls of earlier runs. Recorded histories contain this name. @returns one entry for each call; null if the call must be made */
  takeOver(input: ReuseInput): Promise<(ReusedResult | null)[]>;
  settle(input: RunInput, end: RunEnd): Promise<RunOutcome>;
}

/** Activities for deliveries that version 1.0.0 started. Each delivery moves to notifications. */
export interface EarlierActivities {
  sendWebhook(id: AttemptId): Promise<AttemptResult>;
  /** Returns how the delivery ended; null if another attempt follows. Idempotent. */
  recordAttempt(id: AttemptId, attemptResult: AttemptResult): Promise<DeliveryEnd | null>;
  sendAlert(alert: AlertDelivery, attempt: number): Promise<NextAttempt | null>;
  sendMail(mailId: string, attempt: number): Promise<{ end: string } | { pauseMs: number }>;
}

export interface BatchActivities {
  /** Starts items of a batch and waits for their ends. @returns `again` if another turn must follow */
  carryBatch(batchId: string): Promise<"over" | "again">;
  /** Announces the end of a batch. @returns null if nothing is left to do */
  announceBatch(batchId: string): Promise<number | null>;
}

export interface BundleActivities {
  /** @param inner slugs of its inner workflows by name. @returns version 0 if the workflow isn't published */
  saveBundleStep(order: BundleImport, step: BundleStep, inner: Record<string, string>): Promise<{ slug: string; version: number }>;
  moveBundleAlias(order: BundleImport, slug: string, version: number): Promise<void>;
}

export interface Activities extends BatchActivities, BundleActivities {
  submit(call: ModelCall): Promise<SubmittedJob>;
  poll(call: ModelCall, job: SubmittedJob): Promise<CallResult>;
  cancelJob(call: ModelCall, job: SubmittedJob): Promise<CancelResult>;
  runText(call: ModelCall): Promise<CallResult>;
  runFiles(call: ModelCall): Promise<CallResult>;
  stopFiles(call: ModelCall): Promise<CancelResult>;
  httpRequest(call: HttpNodeCall): Promise<HttpResult>;
  keepFile(call: FileToKeep): Promise<MediaValue>;
  /** Returns only the files if there are no warnings, as in every earlier version. */
  runTransform(call: TransformCall): Promise<MediaValue[] | { files: MediaValue[]; warnings: string[] }>;
  reconcile(): Promise<ReconcileReport>;
  renewDuePlans(): Promise<{ renewed: number; failed: number }>;
  enforceRetention(): Promise<RetentionReport>;
  checkLedger(): Promise<LedgerReport>;
  sendRetiringNotices(): Promise<RetiringReport>;
  /** Blocks signing in to an account that is being erased. */
  beginErasure(userId: string): Promise<void>;
  /** Ends schedules, hooks, batches and runs of an account. @returns number of runs and batches that haven't ended yet */
  endUnderWay(userId: string): Promise<number>;
  eraseEverywhere(userId: string): Promise<RetentionReport>;
  endErasure(userId: string): Promise<void>;
  buildExport(userId: string): Promise<void>;
  /**
   * Asks triggers to run a schedule of version 1.0.0 at a time in ISO form. Returns null if the schedule is missing or has changed.
   * Idempotent.
   */
  startScheduled(scheduleId: string, at: string): Promise<ScheduledStart | null>;
}

export interface ScheduledStart {
  outcome: "started" | "skipped" | "refused";
  executionId: string | null;
  code: string | null;
}

/** Numbers of orphaned runs that were ended, webhooks that were delivered again, and holds that were closed. */
export type ReconcileReport = Record<"runs" | "deliveries" | "holds", PassReport>;

/** Deleted documents by service and kind. */
export type RetentionReport = Record<string, Record<string, number>>;

/** Erased documents by service and collection: documents of the first pass, and documents written during that pass. */
export type ErasureReport = Record<"erased" | "late", RetentionReport>;

/** Numbers of models that will be shut down soon, and of notices about them: one for each account and model. */
export type RetiringReport = Record<"models" | "notices", number>;

export interface LedgerReport {
  accounts: number;
  /** Number of differences between accounts and their rows. Each is logged as an error. */
  mismatches: number;
  /** Number of holds that are older than any run can be. */
  staleHolds: number;
}
