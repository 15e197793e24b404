import type { BundleImport, BundleStep } from "../run/bundle";
import type { AttemptId, DeliveryEnd, Sent } from "../run/delivery";
import type { Looked } from "../record/look";
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
import type { Decided } from "../run/approvals";
import type { HoldItem, MediaValue, OnTimeout, ValueType } from "@nodeloom/kernel/graph";

/** Without a number: the run's own delivery. */
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
  /** Id of the message. */
  id: string;
  userId: string;
  keyId: string;
  /** When the share was reached, in ISO form. */
  at: string;
  /** Body of the message: a JSON object. */
  dataJson: string;
}

export interface NextAttempt {
  /** From 1. */
  attempt: number;
  pauseMs: number;
}

/** A node that starts to wait for a decision. Times in milliseconds since the epoch. */
export interface ApprovalInput extends Pick<RunInput, "executionId" | "attempt"> {
  nodeId: string;
  label?: string;
  title: string;
  instructions: string;
  onTimeout: OnTimeout;
  since: number;
  until: number;
  type: ValueType;
  /** Value under review; absent if the runner can't see it. */
  shown?: { value: unknown };
  /** Executions whose decision on the same value is reused, nearest first. */
  sources?: readonly string[];
}

/** `late`: decision when the time is up, unless another was made. */
export interface DecisionInput extends Pick<ApprovalInput, "executionId" | "nodeId" | "label"> {
  late?: OnTimeout;
}

export interface ApprovalActivities {
  /** @returns when the wait ends, as its first attempt said, and whether it is decided already */
  beginWait(input: ApprovalInput): Promise<{ until: number; isDecided?: boolean }>;
  /** @returns null while nothing is decided */
  takeDecision(input: DecisionInput): Promise<Decided | null>;
  stepAside(run: Pick<RunInput, "userId" | "holdId">): Promise<void>;
  /** @returns where the run stands in the queue; 0: it has a place */
  comeBack(run: Pick<RunInput, "userId" | "holdId" | "concurrency">): Promise<number>;
}

export interface Claim {
  executionId: string;
  attempt: number;
  /** First workflow run of the chain, so that repeating the first step gives the same id. */
  claimedBy: string;
}

/** Result of a call made in the workflow task. A declined call is made by an activity, after the pause if there is one. */
export type ShortAnswer<T> = { result: T } | { declined: true; afterMs?: number };

export interface ShortCalls {
  shortJob(call: ModelCall): Promise<ShortAnswer<FollowedJob>>;
  shortHttpRequest(call: HttpNodeCall): Promise<ShortAnswer<HttpResult>>;
  shortKeepFile(call: FileToKeep): Promise<ShortAnswer<MediaValue>>;
}

/** Short activities inside the workflow task; each is idempotent by execution id. */
export interface LocalActivities extends ShortCalls, ApprovalActivities {
  /** accepted | queued → processing. @returns true if the run belongs to this workflow */
  claim(claim: Claim): Promise<boolean>;
  extendHold(input: ExtendInput): Promise<HeldItem[]>;
  /** Reuses calls of earlier runs. Histories contain this name. @returns an entry per call; null if it must be made */
  takeOver(input: ReuseInput): Promise<(ReusedResult | null)[]>;
  settle(input: RunInput, end: RunEnd): Promise<RunOutcome>;
}

/** Deliveries that version 1.0.0 started; each moves to notifications. */
export interface EarlierActivities {
  sendWebhook(id: AttemptId): Promise<Sent>;
  /** End of the delivery; null if another attempt follows. Idempotent. */
  recordAttempt(id: AttemptId, sent: Sent): Promise<DeliveryEnd | null>;
  sendAlert(alert: AlertDelivery, attempt: number): Promise<NextAttempt | null>;
  sendMail(mailId: string, attempt: number): Promise<{ end: string } | { pauseMs: number }>;
}

export interface BatchActivities {
  /** Starts items of a batch and waits for their ends. @returns `again` if another turn must follow */
  carryBatch(batchId: string): Promise<"over" | "again">;
  /** Announces the end of a batch. @returns null: nothing is left to do */
  announceBatch(batchId: string): Promise<number | null>;
}

export interface BundleActivities {
  /** @param inner slugs of the workflows that it uses, by name. @returns version 0 if it isn't published */
  saveBundleStep(order: BundleImport, step: BundleStep, inner: Record<string, string>): Promise<{ slug: string; version: number }>;
  moveBundleAlias(order: BundleImport, slug: string, version: number): Promise<void>;
}

/** Calls to providers and receivers. */
export interface Activities extends BatchActivities, BundleActivities {
  submit(call: ModelCall): Promise<SubmittedJob>;
  poll(call: ModelCall, job: SubmittedJob): Promise<CallResult>;
  cancelJob(call: ModelCall, job: SubmittedJob): Promise<CancelResult>;
  runText(call: ModelCall): Promise<CallResult>;
  runFiles(call: ModelCall): Promise<CallResult>;
  stopFiles(call: ModelCall): Promise<CancelResult>;
  httpRequest(call: HttpNodeCall): Promise<HttpResult>;
  keepFile(call: FileToKeep): Promise<MediaValue>;
  /** Only files if there are no warnings, as in every earlier version. */
  runTransform(call: TransformCall): Promise<MediaValue[] | { files: MediaValue[]; warnings: string[] }>;
  reconcile(): Promise<ReconcileReport>;
  renewDuePlans(): Promise<{ renewed: number; failed: number }>;
  enforceRetention(): Promise<RetentionReport>;
  checkLedger(): Promise<LedgerReport>;
  sendRetiringNotices(): Promise<RetiringReport>;
  /** Blocks signing in to an account that is being erased. */
  beginErasure(userId: string): Promise<void>;
  /** Ends schedules, hooks, batches and runs of an account. @returns how many aren't over yet */
  endUnderWay(userId: string): Promise<number>;
  /** Erases an account in every service. */
  eraseEverywhere(userId: string): Promise<RetentionReport>;
  endErasure(userId: string): Promise<void>;
  buildExport(userId: string): Promise<void>;
  /** Lets triggers run a schedule of version 1.0.0 at a time in ISO form; null if the schedule is gone or has changed. Idempotent. */
  startScheduled(scheduleId: string, at: string): Promise<ScheduledStart | null>;
}

export interface ScheduledStart {
  outcome: "started" | "skipped" | "refused";
  executionId: string | null;
  code: string | null;
}

/** Reports of periodic work, kept by Temporal. */

/** Numbers of orphaned runs that were ended, webhooks that were delivered again, and holds that were closed. */
export type ReconcileReport = Record<"runs" | "deliveries" | "holds", Looked>;

/** Deleted documents by service and kind. */
export type RetentionReport = Record<string, Record<string, number>>;

/** Erased documents by service and collection: in the first pass, and written since. */
export type ErasureReport = Record<"erased" | "late", RetentionReport>;

/** Models that are shut down soon, and notices of them: one per account and model. */
export type RetiringReport = Record<"models" | "notices", number>;

export interface LedgerReport {
  accounts: number;
  /** Differences between accounts and their rows. Each is logged as an error. */
  mismatches: number;
  /** Holds older than any run can be. */
  staleHolds: number;
}
