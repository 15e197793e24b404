/** Stores erasures of many runs, and finds the runs that each erasure matches. */
import { beyond, DURABLE, insertOnce, type ListPosition } from "@nodeloom/platform";
import type { Connection, mongo } from "mongoose";
import { metadataKeys, type ExecutionRecord, type ExecutionView } from "../../run/record";
import { FINAL_BATCHES, type BatchRecord } from "../../run/batch";
import { FINAL_STATUSES, HIDDEN, TRANSITIONS } from "../../run/states";
import { documents } from "../schema";
import { WITHOUT_EVENTS } from "../runs/event-log";

export interface MetadataEntry {
  name: string;
  value: string;
}
export type Selection = { executions: string[] } | { metadata: MetadataEntry } | { workflow: string };

/** Ids of schedules, hooks and keys that set the metadata value. The erasure doesn't change them. */
export type Carriers = Record<"schedules" | "hooks" | "keys", string[]>;

export interface ErasureRecord {
  _id: string;
  userId: string;
  /** Removed when the erasure is complete, because a metadata value can be personal data. */
  selection?: Selection;
  kind: "executions" | "metadata" | "workflow";
  metadataName?: string;
  /** Runs must also have all these entries; see `metadataKeys`. */
  within: string[];
  before: Date;
  state: "running" | "completed";
  matched: number;
  carriers?: Carriers;
  /** Set if no run has the value any more and it is removed from other places. */
  isValueErased?: true;
  fingerprint: string;
  createdAt: Date;
  finishedAt: Date | null;
  expiresAt?: Date;
}

const erasureSchema = documents<ErasureRecord>("erasures");
// Few erasures run at a time.
erasureSchema.index({ state: 1, _id: 1 }, { partialFilterExpression: { state: "running" } });
// Lists an account's erasures, newest first.
erasureSchema.index({ userId: 1, createdAt: -1, _id: -1 });
erasureSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
/** How long a completed erasure can be read. */
const SHOWN_MS = 90 * 86_400_000;

export type ErasureScope = Pick<ErasureRecord, "_id" | "userId" | "selection" | "within" | "before">;

const SHOWN = { status: { $nin: [...HIDDEN] } };
const BURIABLE = { status: { $in: [...FINAL_STATUSES] }, "outbox.0": { $exists: false } };
const NOT_ERASED = { status: { $ne: TRANSITIONS.erase.completed[0] } };

export const metadataOfSelection = (selection: Selection | undefined): MetadataEntry | undefined =>
  selection && "metadata" in selection ? selection.metadata : undefined;

/** Metadata entries that a run must have to match an erasure. */
const keysOf = ({ selection, within }: ErasureScope): string[] => {
  const entry = metadataOfSelection(selection);
  return entry ? [...new Set([...within, ...metadataKeys({ [entry.name]: entry.value })])] : within;
};

const selected = (selection: Selection | undefined): object => {
  if (!selection) return { _id: { $in: [] } };
  if ("executions" in selection) return { _id: { $in: selection.executions } };
  if ("workflow" in selection) return { workflowSlug: selection.workflow };
  return {};
};

/** Filter for runs that an erasure matches, erased or not. */
const matching = (erasure: ErasureScope): object => {
  const keys = keysOf(erasure);
  return {
    userId: erasure.userId,
    createdAt: { $lt: erasure.before },
    ...selected(erasure.selection),
    ...(keys.length > 0 ? { metadata: { $all: keys } } : {}),
  };
};

const batchesOf = (erasure: ErasureScope): object => ({
  userId: erasure.userId,
  createdAt: { $lt: erasure.before },
  metadata: { $all: keysOf(erasure) },
});

export type Erasures = ReturnType<typeof createErasureStore>;

/** @param connection connection on which the other models are registered */
export const createErasureStore = (connection: Connection) => {
  const erasures = connection.model("Erasure", erasureSchema);
  const executions = connection.models.Execution!.collection as unknown as mongo.Collection<ExecutionRecord>;
  const batches = connection.models.Batch!.collection as unknown as mongo.Collection<BatchRecord>;
  const countRuns = (filter: object): Promise<number> => executions.countDocuments(filter as never);
  const runs = (filter: object, limit: number): Promise<ExecutionView[]> =>
    executions.find<ExecutionView>(filter as never, { projection: WITHOUT_EVENTS, limit }).toArray();

  return {
    /** @returns true if the erasure was inserted; false if its id exists */
    insert: (record: ErasureRecord): Promise<boolean> =>
      insertOnce(erasures.collection.insertOne(record as never, { writeConcern: DURABLE as never, ignoreUndefined: true })),

    find: (id: string): Promise<ErasureRecord | null> => erasures.findOne({ _id: id }).lean<ErasureRecord>().exec(),

    /** Returns an account's erasures, newest first. @param within keys that the erasures must have; see `metadataKeys` */
    list: (userId: string, within: readonly string[], limit: number, after: ListPosition | undefined): Promise<ErasureRecord[]> =>
      erasures
        .find({ userId, ...(within.length > 0 ? { within: { $all: [...within] } } : {}), ...beyond("createdAt", after, "$lt") } as object)
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .lean<ErasureRecord[]>()
        .exec(),

    countRunning: (userId: string): Promise<number> => erasures.countDocuments({ userId, state: "running" }).exec(),

    /** Counts the runs that clients can see. */
    countShown: (erasure: ErasureScope): Promise<number> => countRuns({ ...matching(erasure), ...SHOWN }),

    /** Counts runs that aren't erased yet. For an erasure by metadata, also counts batches that aren't removed yet. */
    countPending: async (erasure: ErasureScope): Promise<number> => {
      const runsLeft = await countRuns({ ...matching(erasure), ...NOT_ERASED });
      return metadataOfSelection(erasure.selection) ? runsLeft + (await batches.countDocuments(batchesOf(erasure))) : runsLeft;
    },

    /** Counts erased runs whose data is still being removed. */
    countRemoving: (id: string): Promise<number> => countRuns({ "remains.erasure": id }),

    /** Returns final runs with an empty outbox. */
    buriable: (erasure: ErasureScope, limit: number): Promise<ExecutionView[]> => runs({ ...matching(erasure), ...BURIABLE }, limit),

    /** Returns refused attempts that never became a run. */
    refuse: (erasure: ErasureScope, limit: number): Promise<ExecutionView[]> =>
      runs({ ...matching(erasure), status: "refused", "outbox.0": { $exists: false } }, limit),

    /** Returns ended batches whose end is announced. */
    batchesOver: (erasure: ErasureScope, limit: number): Promise<BatchRecord[]> =>
      batches.find({ ...batchesOf(erasure), status: { $in: [...FINAL_BATCHES] }, isCarried: { $ne: true } } as never, { limit }).toArray(),

    /** Returns items of a batch that aren't erased yet. */
    itemsLeft: (userId: string, batchId: string, limit: number): Promise<ExecutionView[]> =>
      runs({ userId, batchId, ...NOT_ERASED }, limit),

    markValueErased: async (id: string): Promise<void> =>
      void (await erasures.updateOne({ _id: id, state: "running" }, { $set: { isValueErased: true } }).exec()),

    complete: async (id: string, carriers: Carriers | undefined): Promise<void> => {
      const finishedAt = new Date();
      const expiresAt = new Date(finishedAt.getTime() + SHOWN_MS);
      const completion = { state: "completed", finishedAt, expiresAt, ...(carriers ? { carriers } : {}) };
      await erasures.updateOne({ _id: id, state: "running" }, { $set: completion, $unset: { selection: 1 } } as object).exec();
    },

    /** Returns erasures that aren't complete, in order of their ids. */
    running: (limit: number, after = ""): Promise<ErasureRecord[]> =>
      erasures
        .find({ state: "running", _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<ErasureRecord[]>()
        .exec(),

    removeOwned: async (userId: string): Promise<number> => (await erasures.deleteMany({ userId }).exec()).deletedCount,
  };
};
