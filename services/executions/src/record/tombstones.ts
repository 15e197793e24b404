/** Erased runs: how a row becomes a tombstone, and what else still names what is to be removed with it. */
import { beyond, DURABLE } from "@nodeloom/platform";
import type { Connection, mongo } from "mongoose";
import type { BatchRow } from "../run/batch";
import type { CallRecord } from "../run/call-record";
import { settledEvent, type ExecutionRecord, type ExecutionView, type Remains } from "../run/record";
import { TRANSITIONS } from "../run/states";
import type { FinalStatus, StoredText } from "../run/types";
import { WITHOUT_EVENTS } from "./event-log";

const ERASED = TRANSITIONS.erase.completed[0];
const NOT_ERASED = { status: { $ne: ERASED } } as const;
/** A text of an item, with nothing in it. */
const EMPTY_INPUT = { json: JSON.stringify({ inputsJson: "", settingsJson: "" }) };
const NAMES = { resultJson: 1, resultHash: 1, nodes: 1, nodesHash: 1 } as const;

/** A rerun, as far as it may name files of the run that it is one of. */
export type Naming = Pick<ExecutionView, "_id" | keyof typeof NAMES>;

/** Why a run is buried: its owner's request, an erasure of many runs, or because its time is over. */
export type BuriedBy = Pick<Remains, "withKept" | "erasure" | "isExpired">;

const hashOf = (text: StoredText | undefined): string[] => (text && "hash" in text ? [text.hash] : []);

const tombstoneOf = (row: Omit<ExecutionView, "status">, part: BuriedBy): Partial<ExecutionRecord> => {
  const { _id, userId, holdId, attempt, createdAt, inputs, schema, graph, uses = [], batchId, index } = row;
  const [graphHash] = hashOf(graph);
  const texts = [...hashOf(inputs), ...hashOf(schema)];
  return {
    ...{ _id, userId, holdId, attempt, createdAt, status: ERASED, erasedAt: new Date(), outbox: ["erase"], unsettled: true },
    remains: {
      ...{ texts, uses },
      ...(graphHash === undefined ? {} : { graph: graphHash }),
      ...(batchId === undefined || index === undefined ? {} : { batchId, index }),
      ...part,
    },
  };
};

/** Members of a run that is kept for 0 days that are removed at its end. */
const EMPTIED = {
  ...{ inputs: 1, schema: 1, graph: 1, nodesHash: 1, logParts: 1, closing: 1, runInput: 1 },
  ...{ waits: 1, decisions: 1, waitingFor: 1, waiting: 1 },
} as const satisfies Partial<Record<keyof ExecutionRecord, 1>>;

export type Tombstones = ReturnType<typeof createTombstones>;

/** @param connection has the models */
export const createTombstones = (connection: Connection) => {
  const { Execution, Call, Submission, BatchRow: Row } = connection.models;
  const collection = <T extends object>(model: typeof Execution) => model!.collection as unknown as mongo.Collection<T>;
  const executions = collection<ExecutionRecord>(Execution);
  const rows = collection<BatchRow>(Row);
  const isThere = async (found: Promise<unknown>): Promise<boolean> => (await found) !== null;

  return {
    /**
     * Leaves a tombstone of a final run that owes nothing, with what leads to the rest: one conditional update. Nothing of such a row that
     * the tombstone takes over changes any more.
     * @returns null where there is no such run
     */
    bury: (row: ExecutionView, part: BuriedBy = {}): Promise<ExecutionView | null> => {
      const { _id, userId, status, ...rest } = row;
      const filter = { _id, userId, status, attempt: row.attempt, "outbox.0": { $exists: false } };
      return executions.findOneAndReplace(filter as object, tombstoneOf({ _id, userId, ...rest }, part) as never, {
        returnDocument: "after",
        writeConcern: DURABLE as never,
        ignoreUndefined: true,
      }) as Promise<ExecutionView | null>;
    },

    /**
     * Empties a final run that is kept for 0 days and owes nothing: one conditional update. The status, the result and the amounts stay.
     * @param uses its names of files that the result has
     * @param eraseAt when the rest is erased; undefined for an item, which follows its batch
     */
    empty: (row: ExecutionView, uses: readonly string[], eraseAt: Date | undefined): Promise<ExecutionView | null> => {
      const { _id, userId, status, attempt, error, inputs, schema, graph } = row;
      const [graphHash] = hashOf(graph);
      const set: Partial<ExecutionRecord> = {
        ...{ isEmptied: true, nodes: [], uses: [...uses], outbox: ["erase"], unsettled: true },
        events: [settledEvent({ status: status as FinalStatus, error })],
        remains: {
          ...{ texts: [...hashOf(inputs), ...hashOf(schema)], uses: row.uses ?? [] },
          ...(graphHash === undefined ? {} : { graph: graphHash }),
        },
        ...(eraseAt ? { eraseAt } : {}),
      };
      const filter = { _id, userId, status, attempt, isEmptied: { $exists: false }, "outbox.0": { $exists: false } };
      const update = { $set: set, $unset: { ...EMPTIED, ...(eraseAt ? {} : { eraseAt: 1 }) } };
      return executions.findOneAndUpdate(filter as object, update as never, {
        ...{ returnDocument: "after", ignoreUndefined: true, projection: WITHOUT_EVENTS },
        writeConcern: DURABLE as never,
      }) as Promise<ExecutionView | null>;
    },

    /** Some final runs whose time has come and that owe nothing, in order of that time. */
    due: (now: Date, limit: number, after?: Pick<ExecutionView, "eraseAt" | "_id">): Promise<ExecutionView[]> =>
      executions
        .find<ExecutionView>(
          {
            eraseAt: { $lte: now },
            "outbox.0": { $exists: false },
            ...beyond("eraseAt", after?.eraseAt && { at: after.eraseAt, id: after._id }),
          } as object,
          { projection: WITHOUT_EVENTS, sort: { eraseAt: 1, _id: 1 }, limit },
        )
        .toArray(),

    /** Everything that a tombstone led to is gone. */
    settle: async (executionId: string): Promise<void> => {
      await executions.updateOne({ _id: executionId, remains: { $exists: true } } as object, { $unset: { remains: 1 } });
    },

    /** Removes the calls of a run, and what was sent for them. */
    removeCalls: async (executionId: string): Promise<void> => {
      await collection(Call).deleteMany({ executionId });
      // A submission's id begins with its run's.
      await collection(Submission).deleteMany({ _id: { $gte: `${executionId}:`, $lt: `${executionId};` } } as object);
    },

    /** Marks a batch's row of an erased run. @returns the hash of its input, if it is long and no other row of the batch has it */
    markRow: async (batchId: string, index: number): Promise<string | undefined> => {
      const update = { $set: { isErased: true as const }, $unset: { error: 1 as const } };
      const row = await rows.findOneAndUpdate({ batchId, index }, update as object, { writeConcern: DURABLE as never });
      if (!row || !("hash" in row.input)) return undefined;
      const { hash } = row.input;
      const others = { batchId, "input.hash": hash, isErased: { $ne: true } };
      return (await isThere(rows.findOne(others as object))) ? undefined : hash;
    },

    emptyRow: async (batchId: string, index: number): Promise<void> => {
      await rows.updateOne({ batchId, index }, { $set: { input: EMPTY_INPUT } });
    },

    /** Whether another run has a graph. */
    isGraphNamed: (hash: string, userId: string): Promise<boolean> =>
      isThere(executions.findOne({ "graph.hash": hash, userId, ...NOT_ERASED } as object, { projection: { _id: 1 } })),

    /** Whether another run names a long text: those from before each run had its own. */
    isTextNamed: (hash: string, userId: string): Promise<boolean> => {
      const names = { $or: [{ "inputs.hash": hash }, { "schema.hash": hash }] };
      return isThere(executions.findOne({ userId, ...NOT_ERASED, ...names } as object, { projection: { _id: 1 } }));
    },

    /** Filters names of files by whether the inputs or the graph of a run has them. */
    usedNames: async (names: readonly string[], userId: string): Promise<string[]> => {
      const found = executions.find<Pick<ExecutionRecord, "uses">>({ uses: { $in: [...names] }, userId, ...NOT_ERASED } as object, {
        projection: { uses: 1 },
      });
      const used = new Set<string>();
      for await (const { uses = [] } of found) for (const name of uses) used.add(name);
      return names.filter((name) => used.has(name));
    },

    /** Reruns whose results can contain a run's files, with the calls that they reused from the run. */
    rerunsOf: (executionId: string, userId: string): AsyncIterable<Naming> =>
      executions.find<Naming>({ "rerun.sources": executionId, userId, ...NOT_ERASED } as object, { projection: NAMES }),
    callsOf: (executionId: string): AsyncIterable<CallRecord> => collection<CallRecord>(Call).find<CallRecord>({ executionId }),

    /** Filters ids of runs by whether the run is erased or gone. */
    areGone: async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
      const left = await executions.find({ _id: { $in: [...ids] }, ...NOT_ERASED } as object, { projection: { _id: 1 } }).toArray();
      const living = new Set(left.map(({ _id }) => _id));
      return new Set(ids.filter((id) => !living.has(id)));
    },
  };
};
