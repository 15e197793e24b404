/** The activities that workflows know, with what they take and give. */
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

/** A budget's alert on its way to the webhook of one key. */
export interface AlertDelivery {
  /** The message's. */
  id: string;
  userId: string;
  keyId: string;
  /** When the share was reached, in ISO form. */
  at: string;
  /** What the message says: a JSON object. */
  dataJson: string;
}

export interface NextAttempt {
  /** From 1. */
  attempt: number;
  pauseMs: number;
}

/** A node that begins to wait for a decision. Times in milliseconds since the epoch. */
export interface ApprovalInput extends Pick<RunInput, "executionId" | "attempt"> {
  nodeId: string;
  label?: string;
  title: string;
  instructions: string;
  onTimeout: OnTimeout;
  since: number;
  until: number;
  type: ValueType;
  /** What is looked at; absent where its runner may not see it. */
  shown?: { value: unknown };
  /** Executions, the nearest first, one of whose decisions on the same value is reused. */
  sources?: readonly string[];
}

/** `late`: the time is over, and this is decided unless something else was. */
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
  /** The first workflow run of its chain: the same however often its first step is repeated. */
  claimedBy: string;
}

/** What came of a call that was made in the workflow task: declined ones are made by an activity, after a pause if there is to be one. */
export type ShortAnswer<T> = { result: T } | { declined: true; afterMs?: number };

export interface ShortCalls {
  shortJob(call: ModelCall): Promise<ShortAnswer<FollowedJob>>;
  shortHttpRequest(call: HttpNodeCall): Promise<ShortAnswer<HttpResult>>;
  shortKeepFile(call: FileToKeep): Promise<ShortAnswer<MediaValue>>;
}

/** Short, in the workflow task itself; each is idempotent by execution id. */
export interface LocalActivities extends ShortCalls, ApprovalActivities {
  /** accepted | queued → processing. @returns whether the run is this workflow's to carry */
  claim(claim: Claim): Promise<boolean>;
  extendHold(input: ExtendInput): Promise<HeldItem[]>;
  /** Reuses calls of earlier runs: histories name it so. @returns an entry for each call; null where it is to be made */
  takeOver(input: ReuseInput): Promise<(ReusedResult | null)[]>;
  settle(input: RunInput, end: RunEnd): Promise<RunOutcome>;
}

/** Of deliveries that 1.0.0 started: each is given to notifications. */
export interface EarlierActivities {
  sendWebhook(id: AttemptId): Promise<Sent>;
  /** How the delivery ended; null when there is to be another attempt. Idempotent. */
  recordAttempt(id: AttemptId, sent: Sent): Promise<DeliveryEnd | null>;
  sendAlert(alert: AlertDelivery, attempt: number): Promise<NextAttempt | null>;
  sendMail(mailId: string, attempt: number): Promise<{ end: string } | { pauseMs: number }>;
}

/** A batch, by its workflow. */
export interface BatchActivities {
  /** Begins items of a batch and waits for their ends. @returns `again` where another turn is to go on */
  carryBatch(batchId: string): Promise<"over" | "again">;
  /** Announces the end of a batch. @returns null: there is nothing more to do */
  announceBatch(batchId: string): Promise<number | null>;
}

/** What touches a provider or a receiver. */
export interface Activities extends BatchActivities {
  submit(call: ModelCall): Promise<SubmittedJob>;
  poll(call: ModelCall, job: SubmittedJob): Promise<CallResult>;
  cancelJob(call: ModelCall, job: SubmittedJob): Promise<CancelResult>;
  runText(call: ModelCall): Promise<CallResult>;
  runFiles(call: ModelCall): Promise<CallResult>;
  stopFiles(call: ModelCall): Promise<CancelResult>;
  httpRequest(call: HttpNodeCall): Promise<HttpResult>;
  keepFile(call: FileToKeep): Promise<MediaValue>;
  /** Files alone where nothing is warned of, as every earlier version answers. */
  runTransform(call: TransformCall): Promise<MediaValue[] | { files: MediaValue[]; warnings: string[] }>;
  reconcile(): Promise<ReconcileReport>;
  renewDuePlans(): Promise<{ renewed: number; failed: number }>;
  enforceRetention(): Promise<RetentionReport>;
  checkLedger(): Promise<LedgerReport>;
  /** From here on nobody signs in to an account that is to be erased. */
  beginErasure(userId: string): Promise<void>;
  /** Ends schedules, hooks, batches and runs of an account. @returns how many are not over yet */
  endUnderWay(userId: string): Promise<number>;
  /** Has every owner erase what it keeps of an account. */
  eraseEverywhere(userId: string): Promise<RetentionReport>;
  endErasure(userId: string): Promise<void>;
  /** Makes the archive of an account. */
  buildExport(userId: string): Promise<void>;
  /** Has triggers serve a time of a schedule that 1.0.0 made, in ISO form; null where the schedule is gone or was changed. Idempotent. */
  startScheduled(scheduleId: string, at: string): Promise<ScheduledStart | null>;
}

/** What came of a schedule's time. */
export interface ScheduledStart {
  outcome: "started" | "skipped" | "refused";
  executionId: string | null;
  code: string | null;
}

/** What looks that Temporal schedules make find and do: it keeps their reports. */

/**
 * What nothing carries any more: runs, which are ended; webhooks, which are delivered again; holds, which are closed.
 */
export type ReconcileReport = Record<"runs" | "deliveries" | "holds", Looked>;

/** How much each owner has removed because it was kept long enough, by kind. */
export type RetentionReport = Record<string, Record<string, number>>;

/** What was erased of an account, by service and collection: the first time, and what came meanwhile. */
export type ErasureReport = Record<"erased" | "late", RetentionReport>;

export interface LedgerReport {
  accounts: number;
  /** What accounts and their rows disagree about. Each is an error in the log. */
  mismatches: number;
  /** Holds that are older than any run may become. */
  staleHolds: number;
}
