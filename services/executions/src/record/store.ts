import { isDuplicateKey } from "@nodeloom/platform";
import { Schema, type Connection, type UpdateQuery } from "mongoose";
import type { DeliveryState, WebhookAttempt, WebhookState } from "../contract/delivery";
import type { FinalStatus, NodeState, NodeStatus, Refusal, RunError } from "../contract/run-types";
import { TIMING } from "../contract/timing";

export type ExecutionStatus = "processing" | "cancel_requested" | FinalStatus;

/** One entry of an execution's ordered event log. */
export interface ExecutionEvent {
  /** Names the occurrence: an event with the same key is recorded once. */
  key: string;
  type: string;
  at: Date;
  data: Record<string, unknown>;
}

export interface ExecutionRecord {
  _id: string;
  userId: string;
  workflowSlug: string | null;
  modelIds: string[];
  source: string;
  keyId: string | null;
  /** What billing knows the run by. */
  holdId: string;
  markupPermille: number;
  mode: "sync" | "async";
  status: ExecutionStatus;
  /** Set once the run has decided how it ends; from then on it can't be cancelled. */
  ending: FinalStatus | null;
  requestId: string | null;
  /** JSON text: result keys are the users' own. */
  resultJson: string | null;
  error: RunError | null;
  webhook: WebhookState | null;
  nodes: NodeState[];
  events: ExecutionEvent[];
  millicredits: number;
  grantUsed: boolean;
  createdAt: Date;
  finishedAt: Date | null;
  durationMs: number | null;
  /** When it was last known that something carries the run. */
  seenRunningAt: Date;
}

/** An execution without its event log. */
export type ExecutionView = Omit<ExecutionRecord, "events">;

/** What changes when an execution is over. */
export type FinalState = Pick<
  ExecutionRecord,
  "resultJson" | "error" | "nodes" | "millicredits" | "grantUsed" | "finishedAt" | "durationMs"
> & {
  status: FinalStatus;
  requestId?: string;
};

export interface NodeProgress {
  nodeIndex: number;
  status?: NodeStatus;
  startedAt?: number;
  durationMs?: number;
  requestId?: string;
  error?: RunError;
  /** Calls the node makes, now that its inputs are known. */
  items?: number;
  /** One more of the node's calls is done. */
  itemDone?: boolean;
}

export interface ExecutionFilter {
  /** Null: every user's. */
  userId: string | null;
  status?: ExecutionStatus | undefined;
  workflowSlug?: string | undefined;
  limit: number;
  /** Executions that were created before this one. */
  before?: { createdAt: Date; id: string } | undefined;
}

/** Acknowledged only once it survives the loss of the server's process: what is promised to a caller, and how a run ended. */
const DURABLE = { w: "majority", j: true } as const;

const FINAL: ReadonlySet<string> = new Set<FinalStatus>(["completed", "failed", "cancelled"]);
export const isFinal = ({ status }: Pick<ExecutionRecord, "status">): boolean => FINAL.has(status);

const PAYLOAD_DAYS = 30;
/** Longer than a run may wait to be admitted. */
const ADMISSION_DAYS = 2;
const MAX_ATTEMPTS_KEPT = 50;
const DAY_MS = 86_400_000;
const RUNNING: ExecutionStatus[] = ["processing", "cancel_requested"];
/** Rows of a list per exchange with the server: pages of ordinary length take one. */
const LIST_BATCH = 101;
const WITHOUT_EVENTS = { events: 0 } as const;

const executionSchema = new Schema<ExecutionRecord>(
  {
    _id: String,
    userId: String,
    workflowSlug: String,
    modelIds: [String],
    source: String,
    keyId: String,
    holdId: String,
    markupPermille: Number,
    mode: String,
    status: String,
    ending: String,
    requestId: String,
    resultJson: String,
    error: Schema.Types.Mixed,
    webhook: Schema.Types.Mixed,
    nodes: { type: [Schema.Types.Mixed], default: undefined } as never,
    events: { type: [Schema.Types.Mixed], default: undefined } as never,
    millicredits: Number,
    grantUsed: Boolean,
    createdAt: Date,
    finishedAt: Date,
    durationMs: Number,
    seenRunningAt: Date,
  },
  { collection: "executions", minimize: false, versionKey: false, strict: false },
);
// One user's executions, and everyone's, newest first.
executionSchema.index({ userId: 1, createdAt: -1, _id: -1 });
executionSchema.index({ createdAt: -1, _id: -1 });
executionSchema.index({ status: 1, seenRunningAt: 1 });
// Few are pending at a time.
executionSchema.index({ "webhook.state": 1, finishedAt: 1 }, { partialFilterExpression: { "webhook.state": "pending" } });

interface PayloadRecord {
  _id: string;
  bytes: Buffer;
  expiresAt: Date;
}
const payloadSchema = new Schema<PayloadRecord>(
  { _id: String, bytes: Buffer, expiresAt: Date },
  { collection: "payloads", versionKey: false },
);
payloadSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

interface SubmissionRecord {
  _id: string;
  requestId: string | null;
  handle: Record<string, string> | null;
  at: Date;
}
const submissionSchema = new Schema<SubmissionRecord>(
  { _id: String, requestId: String, handle: Schema.Types.Mixed, at: Date },
  { collection: "submissions", versionKey: false, minimize: false },
);
submissionSchema.index({ at: 1 }, { expireAfterSeconds: (PAYLOAD_DAYS * DAY_MS) / 1_000 });

/** Whether a run that was not recorded in time goes on (no refusal) or was refused: the first word holds. */
interface AdmissionRecord {
  _id: string;
  refusal: Refusal | null;
  at: Date;
}
const admissionSchema = new Schema<AdmissionRecord>(
  { _id: String, refusal: Schema.Types.Mixed, at: Date },
  { collection: "admissions", versionKey: false, minimize: false },
);
admissionSchema.index({ at: 1 }, { expireAfterSeconds: (ADMISSION_DAYS * DAY_MS) / 1_000 });

export type ExecutionStore = Awaited<ReturnType<typeof createExecutionStore>>;

/** The executions database: runs, large payloads, what was said of runs that are not recorded, and what was sent to providers without idempotency keys. */
export const createExecutionStore = async (connection: Connection) => {
  const executions = connection.model("Execution", executionSchema);
  const payloads = connection.model("Payload", payloadSchema);
  const submissions = connection.model("Submission", submissionSchema);
  const admissions = connection.model("Admission", admissionSchema);
  await Promise.all([executions, payloads, submissions, admissions].map((model) => model.createIndexes()));

  const insertOnce = async (insert: Promise<unknown>): Promise<boolean> => {
    try {
      await insert;
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  };

  return {
    /** Inserts an execution; a repeated insert changes nothing. */
    insert: (record: ExecutionRecord): Promise<boolean> =>
      insertOnce(executions.collection.insertOne(record as never, { writeConcern: DURABLE })),

    /** Whether a run has been asked to stop: nothing may be begun for it any more. */
    isCalledOff: async (id: string): Promise<boolean> => {
      const record = await executions.findOne({ _id: id }, { status: 1 }).lean<Pick<ExecutionRecord, "status">>().exec();
      return record?.status === "cancel_requested" || record?.status === "cancelled";
    },

    find: (id: string): Promise<ExecutionView | null> => executions.findOne({ _id: id }, WITHOUT_EVENTS).lean<ExecutionView>().exec(),

    findOwned: (id: string, userId: string): Promise<ExecutionView | null> =>
      executions.findOne({ _id: id, userId }, WITHOUT_EVENTS).lean<ExecutionView>().exec(),

    /** Newest first; read in batches, so that a reader with enough can stop. */
    list: ({ userId, status, workflowSlug, limit, before }: ExecutionFilter): AsyncIterable<ExecutionView> =>
      // The driver's own cursor is closed when its reader stops.
      executions.collection.find<ExecutionView>(
        {
          ...(userId === null ? {} : { userId }),
          ...(status ? { status } : {}),
          ...(workflowSlug ? { workflowSlug } : {}),
          ...(before ? { $or: [{ createdAt: { $lt: before.createdAt } }, { createdAt: before.createdAt, _id: { $lt: before.id } }] } : {}),
        } as object,
        { projection: WITHOUT_EVENTS, sort: { createdAt: -1, _id: -1 }, limit, batchSize: Math.min(limit, LIST_BATCH) },
      ),

    /** The event log after a sequence number (the first event has number 1). */
    events: async (
      id: string,
      userId: string,
      after: number,
    ): Promise<{ status: ExecutionStatus; events: (ExecutionEvent & { sequence: number })[] } | null> => {
      const record = await executions
        .findOne({ _id: id, userId }, { status: 1, events: 1 })
        .lean<Pick<ExecutionRecord, "status" | "events">>()
        .exec();
      if (!record) return null;
      return { status: record.status, events: record.events.map((event, index) => ({ ...event, sequence: index + 1 })).slice(after) };
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
        .findOneAndUpdate({ _id: id, status: { $in: RUNNING }, "events.key": { $ne: event.key } }, update, {
          returnDocument: "after",
          projection: { "events.key": 1, nodes: 1 },
        })
        .lean<Pick<ExecutionRecord, "events" | "nodes">>()
        .exec();
      return updated && { sequence: updated.events.length, nodes: updated.nodes };
    },

    /**
     * Fixes how a run ends, unless it was cancelled first.
     * @returns the ending that holds: the given one, an earlier one, or `cancelled`.
     */
    decideEnding: async (id: string, ending: FinalStatus): Promise<FinalStatus> => {
      const allowed: ExecutionStatus[] = ending === "cancelled" ? RUNNING : ["processing"];
      const decided = await executions.updateOne({ _id: id, status: { $in: allowed }, ending: null }, { $set: { ending } }).exec();
      if (decided.modifiedCount === 1) return ending;
      const current = await executions
        .findOne({ _id: id }, { status: 1, ending: 1 })
        .lean<Pick<ExecutionRecord, "status" | "ending">>()
        .exec();
      if (current?.ending) return current.ending;
      await executions.updateOne({ _id: id, ending: null }, { $set: { ending: "cancelled" } }).exec();
      return "cancelled";
    },

    /** The keys of everything in an event log. */
    eventKeys: async (id: string): Promise<Set<string>> => {
      const record = await executions.findOne({ _id: id }, { "events.key": 1 }).lean<Pick<ExecutionRecord, "events">>().exec();
      return new Set(record?.events.map(({ key }) => key));
    },

    /** Makes an execution final, once. Returns it as it is then, or null when it was final already. */
    finish: (id: string, state: FinalState, events: readonly ExecutionEvent[]): Promise<ExecutionRecord | null> =>
      executions
        .findOneAndUpdate(
          { _id: id, status: { $in: RUNNING } },
          { $set: state, $push: { events: { $each: [...events] } } },
          { returnDocument: "after", writeConcern: DURABLE },
        )
        .lean<ExecutionRecord>()
        .exec(),

    /**
     * processing → cancel_requested with its event, unless the run has decided how it ends.
     * @returns the event's sequence number; null when nothing was changed
     */
    requestCancel: async (id: string, userId: string, event: ExecutionEvent): Promise<number | null> => {
      const changed = await executions
        .findOneAndUpdate(
          { _id: id, userId, status: "processing", ending: null },
          { $set: { status: "cancel_requested" }, $push: { events: event } },
          { returnDocument: "after", projection: { "events.key": 1 } },
        )
        .lean<Pick<ExecutionRecord, "events">>()
        .exec();
      return changed && changed.events.length;
    },

    /** Runs under way that were last seen so before a time, longest ago first. */
    unseenSince: (before: Date, limit: number): Promise<ExecutionView[]> =>
      executions
        .find({ status: { $in: RUNNING }, seenRunningAt: { $lt: before } }, WITHOUT_EVENTS)
        .sort({ seenRunningAt: 1 })
        .limit(limit)
        .lean<ExecutionView[]>()
        .exec(),

    /** Notes that runs are under way. */
    markSeen: async (ids: readonly string[], at: Date): Promise<void> => {
      await executions.updateMany({ _id: { $in: ids }, status: { $in: RUNNING } }, { $set: { seenRunningAt: at } }).exec();
    },

    /** Final executions whose webhook's next attempt should have been before a time, by when they ended; from after a given one. */
    lateDeliveries: (before: Date, limit: number, after?: Pick<ExecutionView, "_id" | "finishedAt">): Promise<ExecutionView[]> => {
      const isDue = { $or: [{ "webhook.nextAttemptAt": null }, { "webhook.nextAttemptAt": { $lt: before } }] };
      const isFurther = after
        ? { $or: [{ finishedAt: { $gt: after.finishedAt } }, { finishedAt: after.finishedAt, _id: { $gt: after._id } }] }
        : {};
      return executions
        .find({ "webhook.state": "pending", finishedAt: { $lt: before }, $and: [isDue, isFurther] }, WITHOUT_EVENTS)
        .sort({ finishedAt: 1, _id: 1 })
        .limit(limit)
        .lean<ExecutionView[]>()
        .exec();
    },

    /** Makes a redelivery the latest one, unless it is or a later one has begun. */
    beginDelivery: async (id: string, delivery: number, at: Date): Promise<void> => {
      const begun = { "webhook.delivery": delivery, "webhook.state": "pending", "webhook.nextAttemptAt": at };
      await executions.updateOne({ _id: id, "webhook.delivery": { $lt: delivery } }, { $set: begun }).exec();
    },

    /** Keeps an attempt, once, and where the delivery stands after it, unless a later delivery has begun. */
    recordAttempt: async (id: string, attempt: WebhookAttempt, state: DeliveryState, nextAttemptAt: Date | null): Promise<void> => {
      const unrecorded = { _id: id, "webhook.history.key": { $ne: attempt.key } };
      const ended = new Date(attempt.at.getTime() + attempt.durationMs);
      const set = {
        "webhook.lastError": attempt.error,
        ...(attempt.error === null ? { "webhook.deliveredAt": ended } : {}),
      };
      const more = { $inc: { "webhook.attempts": 1 }, $push: { "webhook.history": { $each: [attempt], $slice: -MAX_ATTEMPTS_KEPT } } };
      const standing = { "webhook.state": state, "webhook.nextAttemptAt": nextAttemptAt };
      const latest = await executions
        .updateOne({ ...unrecorded, "webhook.delivery": attempt.delivery }, { ...more, $set: { ...set, ...standing } })
        .exec();
      if (latest.matchedCount === 0) await executions.updateOne(unrecorded, { ...more, $set: set }).exec();
    },

    /** Ends a delivery that has nothing to send, unless it is over or a later one has begun. */
    endDelivery: async (id: string, delivery: number, state: DeliveryState): Promise<void> => {
      await executions
        .updateOne(
          { _id: id, "webhook.delivery": delivery, "webhook.state": "pending" },
          { $set: { "webhook.state": state, "webhook.nextAttemptAt": null } },
        )
        .exec();
    },

    /** Claims a submission before it is sent. Returns what is known of an earlier claim. */
    claimSubmission: async (key: string): Promise<{ claimed: true } | ({ claimed: false } & Omit<SubmissionRecord, "_id">)> => {
      const claim = submissions.collection.insertOne({ _id: key, requestId: null, handle: null, at: new Date() } as never, {
        writeConcern: DURABLE,
      });
      if (await insertOnce(claim)) return { claimed: true };
      const earlier = await submissions.findOne({ _id: key }).lean<SubmissionRecord>().exec();
      return { claimed: false, requestId: earlier?.requestId ?? null, handle: earlier?.handle ?? null, at: earlier?.at ?? new Date() };
    },
    recordSubmission: async (key: string, requestId: string, handle: Record<string, string> | null): Promise<void> => {
      await submissions.updateOne({ _id: key }, { $set: { requestId, handle } }).exec();
    },
    /** Notes of a claimed submission that nobody will know what came of it. */
    loseSubmission: async (key: string): Promise<void> => {
      await submissions.updateOne({ _id: key, requestId: null }, { $set: { at: new Date(Date.now() - TIMING.submitLost) } }).exec();
    },
    /** Takes a claim back after a submission that certainly was not sent. */
    releaseSubmission: async (key: string): Promise<void> => {
      await submissions.deleteOne({ _id: key, requestId: null }).exec();
    },

    /**
     * Says of a run that is not recorded that it goes on (null), or why it is refused.
     * @returns what holds: the first that was said
     */
    decideAdmission: async (id: string, refusal: Refusal | null): Promise<Refusal | null> => {
      if (await insertOnce(admissions.collection.insertOne({ _id: id, refusal, at: new Date() } as never, { writeConcern: DURABLE })))
        return refusal;
      return (await admissions.findOne({ _id: id }).lean<AdmissionRecord>().exec())?.refusal ?? null;
    },

    /** Why a run was refused, if it was. */
    refusalOf: async (id: string): Promise<Refusal | null> =>
      (await admissions.findOne({ _id: id }).lean<AdmissionRecord>().exec())?.refusal ?? null,

    /** Lets a refused run be asked for again. */
    forgetRefusal: async (id: string): Promise<void> => {
      await admissions.deleteOne({ _id: id, refusal: { $ne: null } }).exec();
    },

    putPayload: async (hash: string, bytes: Uint8Array): Promise<void> => {
      const expiresAt = new Date(Date.now() + PAYLOAD_DAYS * DAY_MS);
      await payloads
        .updateOne({ _id: hash }, { $setOnInsert: { bytes: Buffer.from(bytes) }, $set: { expiresAt } }, { upsert: true })
        .exec();
    },
    getPayload: async (hash: string): Promise<Uint8Array | null> => {
      const found = await payloads.findOne({ _id: hash }).lean<{ bytes: { buffer: Uint8Array } | Buffer }>().exec();
      if (!found) return null;
      return new Uint8Array(Buffer.isBuffer(found.bytes) ? found.bytes : found.bytes.buffer);
    },
  };
};
