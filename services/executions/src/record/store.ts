import { RETENTION, type BaseTier } from "@nodeloom/kernel";
import type { Connection, UpdateQuery } from "mongoose";
import { RUNNING, HIDDEN, type RunStatus } from "../lifecycle/states";
import type { NodeState } from "../contract/run-types";
import { callModel, createCallStore } from "./call-store";
import { createDeliveryRecords } from "./deliveries";
import {
  metadataKeys,
  type ExecutionEvent,
  type ExecutionFilter,
  type ExecutionRecord,
  type ExecutionView,
  type NodeProgress,
} from "./execution-record";
import { createExpiry } from "./expiry";
import { createLineStore } from "./line-store";
import { createPayloadStore } from "./payload-store";
import { executionModel } from "./schema";
import { createSubmissionStore } from "./submission-store";
import { createTransitions } from "./transitions";

/** Rows of a list per exchange with the server: pages of ordinary length take one. */
const LIST_BATCH = 101;
const WITHOUT_EVENTS = { events: 0 } as const;
/** Events that one read of a log answers. */
export const EVENT_PAGE = 500;

export interface EventPage {
  status: RunStatus;
  events: (ExecutionEvent & { sequence: number })[];
  more: boolean;
}

/** How a run stands, and which attempt at it that is. */
export type RunState = Pick<ExecutionView, "_id" | "status" | "holdId">;

export type ExecutionStore = ReturnType<typeof createExecutionStore>;

const statusFilter = (status: RunStatus | undefined): Record<string, unknown> => {
  if (status === undefined) return { status: { $nin: [...HIDDEN] } };
  // What waits in line is shown as under way.
  return { status: status === "processing" ? { $in: ["processing", "queued"] } : status };
};

export interface ExecutionStoreOptions {
  /** How long executions are kept. */
  retentionDays?: number;
}

/** The executions database: runs and their calls, who waits in line, large payloads, and what was sent to providers without idempotency keys. */
export const createExecutionStore = (connection: Connection, { retentionDays = RETENTION.executions.days }: ExecutionStoreOptions = {}) => {
  const executions = executionModel(connection);
  const submissions = createSubmissionStore(connection);
  const payloads = createPayloadStore(connection, retentionDays);
  const calls = createCallStore(connection);
  const lines = createLineStore(connection);

  /** What must be known before a call of a run is made: whether it may be, and whose budget holds (none is known for runs of earlier releases). */
  const callStanding = async (id: string): Promise<{ isCancelled: boolean; baseTier: BaseTier | undefined }> => {
    const record = await executions
      .findOne({ _id: id }, { status: 1, baseTier: 1 })
      .lean<Pick<ExecutionRecord, "status" | "baseTier">>()
      .exec();
    return { isCancelled: record?.status === "cancel_requested" || record?.status === "cancelled", baseTier: record?.baseTier };
  };

  return {
    ...createTransitions(executions),
    ...createDeliveryRecords(executions),
    ...createExpiry(executions, callModel(connection)),
    ...submissions,
    ...payloads,
    ...calls,
    lines,

    /** Whether a run has been asked to stop: nothing may be begun for it any more. */
    isCancelled: async (id: string): Promise<boolean> => (await callStanding(id)).isCancelled,
    callStanding,

    find: (id: string): Promise<ExecutionView | null> => executions.findOne({ _id: id }, WITHOUT_EVENTS).lean<ExecutionView>().exec(),

    /** A run that may be shown. */
    findOwned: (id: string, userId: string): Promise<ExecutionView | null> =>
      executions
        .findOne({ _id: id, userId, status: { $nin: [...HIDDEN] } }, WITHOUT_EVENTS)
        .lean<ExecutionView>()
        .exec(),

    /** The rows among some ids, without what takes much room. */
    statesOf: (ids: readonly string[]): Promise<RunState[]> =>
      executions
        .find({ _id: { $in: [...ids] } }, { status: 1, holdId: 1 })
        .lean<RunState[]>()
        .exec(),

    /** Newest first; read in batches, so that a reader with enough can stop. */
    list: ({ userId, status, workflowSlug, metadata, limit, before }: ExecutionFilter): AsyncIterable<ExecutionView> => {
      const keys = metadataKeys(metadata ?? {});
      // The driver's own cursor is closed when its reader stops.
      return executions.collection.find<ExecutionView>(
        {
          ...(userId === null ? {} : { userId }),
          ...statusFilter(status),
          ...(workflowSlug ? { workflowSlug } : {}),
          ...(keys.length > 0 ? { metadata: { $all: keys } } : {}),
          ...(before ? { $or: [{ createdAt: { $lt: before.createdAt } }, { createdAt: before.createdAt, _id: { $lt: before.id } }] } : {}),
        } as object,
        { projection: WITHOUT_EVENTS, sort: { createdAt: -1, _id: -1 }, limit, batchSize: Math.min(limit, LIST_BATCH) },
      );
    },

    /** A page of the event log after a sequence number (the first event has number 1); `more` when it may go on behind it. */
    events: async (id: string, userId: string, after: number): Promise<EventPage | null> => {
      // The database cuts the page out: a stream is told of each event, and must not read the whole log for it.
      const owned = { _id: id, userId, status: { $nin: [...HIDDEN] } };
      // The embedded database can't cut from behind the end of a list.
      const reached = after > 0 ? { [`events.${after - 1}`]: { $exists: true } } : {};
      const record = await executions
        .findOne({ ...owned, ...reached }, { status: 1, events: { $slice: [after, EVENT_PAGE] } })
        .lean<Pick<ExecutionRecord, "status" | "events">>()
        .exec();
      if (!record) {
        const row = await executions.findOne(owned, { status: 1 }).lean<Pick<ExecutionRecord, "status">>().exec();
        return row && { status: row.status, events: [], more: false };
      }
      const events = record.events.map((event, index) => ({ ...event, sequence: after + index + 1 }));
      return { status: record.status, events, more: events.length === EVENT_PAGE };
    },

    /** Appends an event and moves a node on, in one update, once per event key. Returns the execution's new state, or null when there was nothing to do. */
    progress: async (id: string, event: ExecutionEvent, node?: NodeProgress): Promise<{ sequence: number; nodes: NodeState[] } | null> => {
      const set: Record<string, unknown> = {};
      if (node) {
        const { nodeIndex, itemDone: _, ...changes } = node;
        for (const [name, value] of Object.entries(changes)) set[`nodes.${nodeIndex}.${name}`] = value;
        if (node.requestId !== undefined) set.requestId = node.requestId;
      }
      const update: UpdateQuery<ExecutionRecord> = { $push: { events: event } };
      if (Object.keys(set).length > 0) update.$set = set;
      if (node?.itemDone) update.$inc = { [`nodes.${node.nodeIndex}.itemsDone`]: 1 };
      const updated = await executions
        .findOneAndUpdate({ _id: id, status: { $in: [...RUNNING] }, "events.key": { $ne: event.key } }, update, {
          returnDocument: "after",
          projection: { "events.key": 1, nodes: 1 },
        })
        .lean<Pick<ExecutionRecord, "events" | "nodes">>()
        .exec();
      return updated && { sequence: updated.events.length, nodes: updated.nodes };
    },

    /** The keys of everything in an event log. */
    eventKeys: async (id: string): Promise<Set<string>> => {
      const record = await executions.findOne({ _id: id }, { "events.key": 1 }).lean<Pick<ExecutionRecord, "events">>().exec();
      return new Set(record?.events.map(({ key }) => key));
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

    /** Notes that runs are under way. */
    markSeen: async (ids: readonly string[], at: Date): Promise<void> => {
      await executions.updateMany({ _id: { $in: [...ids] }, status: { $in: [...RUNNING] } }, { $set: { seenRunningAt: at } }).exec();
    },
  };
};
