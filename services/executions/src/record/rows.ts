/** The rows of runs: how they are found. */
import type { BaseTier } from "@nodeloom/kernel";
import { beyond, type ListPosition } from "@nodeloom/platform";
import { metadataKeys, type ExecutionRecord, type ExecutionView } from "../run/record";
import { HIDDEN, RUNNING, type RunStatus } from "../run/states";
import type { CallModel } from "./calls";
import { WITHOUT_EVENTS, type EventLog } from "./event-log";
import { createExpiry } from "./expiry";
import type { ExecutionModel } from "./schema";
import { createTransitions } from "./transitions";
import { IS_WAITING } from "./approvals";

export interface ExecutionFilter {
  /** Null: every user's. */
  userId: string | null;
  status?: RunStatus | undefined;
  workflowSlug?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  /** Items of this batch; undefined: runs that are items of none. */
  batchId?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** Only those that wait for a decision. */
  isWaiting?: boolean | undefined;
  limit: number;
  before?: ListPosition | undefined;
}

/** Rows of a list per exchange with the server: pages of ordinary length take one. */
export const LIST_BATCH = 101;
export type RunResult = Pick<ExecutionView, "_id" | "resultJson" | "resultHash">;
export type RunState = Pick<ExecutionView, "_id" | "status" | "holdId">;
/** How a run ended, where it has. */
export type RunOutcomeView = Pick<ExecutionView, "_id" | "status" | "error">;

/** Whether a run is being cancelled, and the tier by which its calls are bounded; none where its row is gone. */
export interface Standing {
  isCancelled: boolean;
  baseTier: BaseTier | undefined;
}

const timeFilter = ({ createdAfter, createdBefore }: Pick<ExecutionFilter, "createdAfter" | "createdBefore">): Record<string, unknown> => {
  if (!createdAfter && !createdBefore) return {};
  return { createdAt: { ...(createdAfter ? { $gte: createdAfter } : {}), ...(createdBefore ? { $lt: createdBefore } : {}) } };
};

const statusFilter = (status: RunStatus | undefined): Record<string, unknown> => {
  if (status === undefined) return { status: { $nin: [...HIDDEN] } };
  // What waits in the queue is shown as under way.
  return { status: status === "processing" ? { $in: ["processing", "queued"] } : status };
};

export type Rows = ReturnType<typeof createRows>;

export const createRows = (executions: ExecutionModel, calls: CallModel, log: Pick<EventLog, "append" | "stowed">) => ({
  ...createTransitions(executions, log),
  ...createExpiry(executions, calls),

  /** What must be known before a call of a run is made. */
  callStanding: async (id: string): Promise<Standing> => {
    const projection = { status: 1, baseTier: 1 };
    const row = await executions.collection.findOne<Pick<ExecutionRecord, "status" | "baseTier">>({ _id: id } as object, { projection });
    return { isCancelled: row?.status === "cancel_requested" || row?.status === "cancelled", baseTier: row?.baseTier };
  },

  find: (id: string): Promise<ExecutionView | null> =>
    executions.collection.findOne<ExecutionView>({ _id: id } as object, { projection: WITHOUT_EVENTS }),

  /** A run that may be shown. */
  findOwned: (id: string, userId: string): Promise<ExecutionView | null> =>
    executions
      .findOne({ _id: id, userId, status: { $nin: [...HIDDEN] } }, WITHOUT_EVENTS)
      .lean<ExecutionView>()
      .exec(),

  /** What rows among some ids gave. */
  resultsOf: (ids: readonly string[]): Promise<RunResult[]> =>
    executions
      .find({ _id: { $in: [...ids] } }, { resultJson: 1, resultHash: 1 })
      .lean<RunResult[]>()
      .exec(),

  /** The rows among some ids, without what takes much room. */
  statesOf: (ids: readonly string[]): Promise<RunState[]> =>
    executions
      .find({ _id: { $in: [...ids] } }, { status: 1, holdId: 1 })
      .lean<RunState[]>()
      .exec(),

  /** Those among some ids that are a user's, as far as they say how they ended. */
  ofUser: (ids: readonly string[], userId: string): Promise<RunOutcomeView[]> =>
    executions
      .find({ _id: { $in: [...ids] }, userId }, { status: 1, error: 1 })
      .lean<RunOutcomeView[]>()
      .exec(),

  /** Newest first; read in batches, so that a reader with enough can stop. */
  list: ({
    userId,
    status,
    workflowSlug,
    metadata,
    isWaiting,
    batchId,
    limit,
    before,
    ...times
  }: ExecutionFilter): AsyncIterable<ExecutionView> => {
    const keys = metadataKeys(metadata ?? {});
    // The driver's own cursor is closed when its reader stops.
    return executions.collection.find<ExecutionView>(
      {
        ...(userId === null ? {} : { userId }),
        batchId: batchId ?? null,
        ...statusFilter(status),
        ...(isWaiting ? IS_WAITING : {}),
        ...(workflowSlug ? { workflowSlug } : {}),
        ...(keys.length > 0 ? { metadata: { $all: keys } } : {}),
        ...timeFilter(times),
        ...beyond("createdAt", before, "$lt"),
      } as object,
      { projection: WITHOUT_EVENTS, sort: { createdAt: -1, _id: -1 }, limit, batchSize: Math.min(limit, LIST_BATCH) },
    );
  },

  /** Runs under way that were last seen so before a time, longest ago first, after those already looked at. */
  unseenSince: (before: Date, limit: number, skip: readonly string[] = []): Promise<ExecutionView[]> =>
    executions
      .find(
        { status: { $in: [...RUNNING] }, seenRunningAt: { $lt: before }, ...(skip.length > 0 ? { _id: { $nin: [...skip] } } : {}) },
        WITHOUT_EVENTS,
      )
      .sort({ seenRunningAt: 1 })
      .limit(limit)
      .lean<ExecutionView[]>()
      .exec(),

  markSeen: async (ids: readonly string[], at: Date): Promise<void> => {
    await executions.updateMany({ _id: { $in: [...ids] }, status: { $in: [...RUNNING] } }, { $set: { seenRunningAt: at } }).exec();
  },
});
