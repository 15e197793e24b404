/** Queries the rows of runs. */
import type { BaseTier } from "@nodeloom/kernel";
import { beyond, type ListPosition } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { metadataKeys, type ExecutionRecord, type ExecutionView } from "../../run/record";
import { HIDDEN, RUNNING, type RunStatus } from "../../run/states";
import { WITHOUT_EVENTS, type EventLog } from "./event-log";
import { createExpiry, type DataOfRuns } from "./expiry";
import type { ExecutionModel } from "../schema";
import { createTransitions } from "./transitions";
import { IS_WAITING } from "./approvals";

export interface ExecutionFilter {
  /** Null for all users. */
  userId: string | null;
  status?: RunStatus | undefined;
  workflowSlug?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  /** Only items of this batch; undefined for runs outside batches. */
  batchId?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** True to list only runs that wait for a decision. */
  isWaiting?: boolean | undefined;
  limit: number;
  before?: ListPosition | undefined;
}

/** Rows per round trip. A page of usual length needs one round trip. */
export const LIST_BATCH = 101;
/** Maximum runs that are read to find distinct inputs. */
const RECENT = 200;
export type RunInputs = Pick<ExecutionView, "_id" | "inputs" | "until">;
export type RunResult = Pick<ExecutionView, "_id" | "resultJson" | "resultHash">;
/** Members of a run by which its test is judged. */
export type TestedView = Pick<
  ExecutionView,
  "_id" | "status" | "error" | "resultJson" | "resultHash" | "millicredits" | "costs" | "durationMs" | "markupPermille"
>;
export type RunState = Pick<ExecutionView, "_id" | "status" | "holdId">;
/** Outcome of a run, if it has ended. */
export type RunOutcomeView = Pick<ExecutionView, "_id" | "status" | "error">;

const TESTED = {
  ...{ status: 1, error: 1, resultJson: 1, resultHash: 1 },
  ...{ millicredits: 1, costs: 1, durationMs: 1, markupPermille: 1 },
} as const;

/** How long the state at a run's claim is used for its first calls. A cancellation through another process takes effect after it. */
const CLAIMED_MS = 250;
const MAX_CLAIMED = 10_000;

/** Cancellation state of a run, and the tier that limits its calls; undefined if the row is missing. */
export interface Standing {
  isCancelled: boolean;
  baseTier: BaseTier | undefined;
}

const standingOf = (row: Pick<ExecutionRecord, "status" | "baseTier"> | null): Standing => ({
  isCancelled: row?.status === "cancel_requested" || row?.status === "cancelled",
  baseTier: row?.baseTier,
});

const timeFilter = ({ createdAfter, createdBefore }: Pick<ExecutionFilter, "createdAfter" | "createdBefore">): Record<string, unknown> => {
  if (!createdAfter && !createdBefore) return {};
  return { createdAt: { ...(createdAfter ? { $gte: createdAfter } : {}), ...(createdBefore ? { $lt: createdBefore } : {}) } };
};

const statusFilter = (status: RunStatus | undefined): Record<string, unknown> => {
  if (status === undefined) return { status: { $nin: [...HIDDEN] } };
  // The API shows queued runs as processing.
  return { status: status === "processing" ? { $in: ["processing", "queued"] } : status };
};

export type Rows = ReturnType<typeof createRows>;

/** The transitions, and the state that is needed before a call is made. */
const createStandings = (executions: ExecutionModel, transitions: ReturnType<typeof createTransitions>) => {
  /** States of runs that this process has just claimed. */
  const claimedStandings = new LRUCache<string, Standing>({ max: MAX_CLAIMED, ttl: CLAIMED_MS });
  return {
    ...transitions,

    claim: async (...args: Parameters<typeof transitions.claim>): ReturnType<typeof transitions.claim> => {
      const claim = await transitions.claim(...args);
      if (claim && !claim.again) claimedStandings.set(claim.row._id, standingOf(claim.row));
      return claim;
    },

    requestCancel: async (...args: Parameters<typeof transitions.requestCancel>): ReturnType<typeof transitions.requestCancel> => {
      const row = await transitions.requestCancel(...args);
      if (row) claimedStandings.delete(row._id);
      return row;
    },

    /** Returns the state that is needed before a call is made. */
    callStanding: async (id: string): Promise<Standing> => {
      const projection = { status: 1, baseTier: 1 };
      const find = () => executions.collection.findOne<Pick<ExecutionRecord, "status" | "baseTier">>({ _id: id } as object, { projection });
      return claimedStandings.get(id) ?? standingOf(await find());
    },
  };
};

export const createRows = (executions: ExecutionModel, ofRuns: DataOfRuns, log: Pick<EventLog, "append" | "stowed">) => ({
  ...createStandings(executions, createTransitions(executions, log)),
  ...createExpiry(executions, ofRuns),

  find: (id: string): Promise<ExecutionView | null> =>
    executions.collection.findOne<ExecutionView>({ _id: id } as object, { projection: WITHOUT_EVENTS }),

  findOwned: (id: string, userId: string): Promise<ExecutionView | null> =>
    executions
      .findOne({ _id: id, userId, status: { $nin: [...HIDDEN] } }, WITHOUT_EVENTS)
      .lean<ExecutionView>()
      .exec(),

  resultsOf: (ids: readonly string[]): Promise<RunResult[]> =>
    executions
      .find({ _id: { $in: [...ids] } }, { resultJson: 1, resultHash: 1 })
      .lean<RunResult[]>()
      .exec(),

  testedOf: (ids: readonly string[]): Promise<TestedView[]> =>
    executions
      .find({ _id: { $in: [...ids] } }, TESTED)
      .lean<TestedView[]>()
      .exec(),

  /** Returns the states of these runs, without large members. */
  statesOf: (ids: readonly string[]): Promise<RunState[]> =>
    executions
      .find({ _id: { $in: [...ids] } }, { status: 1, holdId: 1 })
      .lean<RunState[]>()
      .exec(),

  /** Returns the outcomes of these runs, if they belong to the user. */
  ofUser: (ids: readonly string[], userId: string): Promise<RunOutcomeView[]> =>
    executions
      .find({ _id: { $in: [...ids] }, userId }, { status: 1, error: 1 })
      .lean<RunOutcomeView[]>()
      .exec(),

  /** Lists runs in batches, newest first, so that a reader can stop early. */
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
    // The driver closes its cursor when the iteration stops.
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

  /** Lists the last completed runs of a user's workflow outside batches, newest first, so that a reader can stop early. */
  recentInputs: (userId: string, workflowSlug: string): AsyncIterable<RunInputs> =>
    executions.collection.find<RunInputs>({ userId, batchId: null, status: "completed", workflowSlug } as object, {
      projection: { inputs: 1, until: 1 },
      ...{ sort: { createdAt: -1, _id: -1 }, limit: RECENT, batchSize: LIST_BATCH },
    }),

  /** Returns runs under way that haven't been seen since a time, longest unseen first. Runs in `skip` are omitted. */
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
