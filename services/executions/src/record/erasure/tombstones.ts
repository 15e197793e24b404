/** Erased runs: replaces a row with a tombstone, and finds other rows that still use the data to remove. */
import { beyond, DURABLE } from "@nodeloom/platform";
import type { Connection, mongo } from "mongoose";
import type { BatchRow } from "../../run/batch";
import type { CallRecord } from "../../run/call-record";
import { settledEvent, type ExecutionRecord, type ExecutionView, type Remains } from "../../run/record";
import { TRANSITIONS } from "../../run/states";
import type { FinalStatus, StoredText } from "../../run/types";
import { WITHOUT_EVENTS } from "../runs/event-log";

const ERASED = TRANSITIONS.erase.completed[0];
const NOT_ERASED = { status: { $ne: ERASED } } as const;
const EMPTY_INPUT = { json: JSON.stringify({ inputsJson: "", settingsJson: "" }) };
const NAMES = { resultJson: 1, resultHash: 1, nodes: 1, nodesHash: 1 } as const;

/** Members of a rerun that can refer to files of the erased run. */
export type Naming = Pick<ExecutionView, "_id" | keyof typeof NAMES>;

/** Reason why a run is erased: a request of its owner, an erasure of many runs, or the end of its retention. */
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

/** Members that are removed at the end of a run with a retention of 0 days. */
const EMPTIED = {
  ...{ inputs: 1, schema: 1, graph: 1, nodesHash: 1, logParts: 1, closing: 1, runInput: 1 },
  ...{ waits: 1, decisions: 1, waitingFor: 1, waiting: 1 },
} as const satisfies Partial<Record<keyof ExecutionRecord, 1>>;

export type Tombstones = ReturnType<typeof createTombstones>;

/** @param connection connection on which the models are registered */
export const createTombstones = (connection: Connection) => {
  const { Execution, Call, Submission, DecisionLink, BatchRow: Row } = connection.models;
  const collection = <T extends object>(model: typeof Execution) => model!.collection as unknown as mongo.Collection<T>;
  const executions = collection<ExecutionRecord>(Execution);
  const rows = collection<BatchRow>(Row);
  const isThere = async (document: Promise<unknown>): Promise<boolean> => (await document) !== null;

  return {
    /**
     * Replaces a final run with a tombstone that lists the remaining data to remove, in one conditional update. The run must have an empty
     * outbox. The members that the tombstone takes over no longer change.
     * @returns null if there is no such run
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
     * Empties a final run with a retention of 0 days, in one conditional update. The run must have an empty outbox. Its status, result and
     * amounts remain.
     * @param uses names of files that the result contains
     * @param eraseAt when the rest is erased; undefined for an item, which is erased with its batch
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

    /** Returns final runs whose retention has ended and whose outbox is empty. They are ordered by erasure time. */
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

    /** Records that all data listed in a tombstone is removed. */
    settle: async (executionId: string): Promise<void> => {
      await executions.updateOne({ _id: executionId, remains: { $exists: true } } as object, { $unset: { remains: 1 } });
    },

    /** Removes the calls of a run, their submissions, and the links of its approvers. */
    removeCalls: async (executionId: string): Promise<void> => {
      await collection(Call).deleteMany({ executionId });
      await collection(DecisionLink).deleteMany({ executionId });
      // A submission's id starts with the id of its run.
      await collection(Submission).deleteMany({ _id: { $gte: `${executionId}:`, $lt: `${executionId};` } } as object);
    },

    /** Returns the unerased runs that measured an item of a test batch. */
    measuringRuns: async (batchId: string, index: number, userId: string): Promise<ExecutionView[]> => {
      const ids = (await rows.findOne({ batchId, index }, { projection: { "measured.runs": 1 } }))?.measured?.runs ?? [];
      if (ids.length === 0) return [];
      const filter = { _id: { $in: ids }, userId, ...NOT_ERASED } as object;
      return executions.find<ExecutionView>(filter, { projection: WITHOUT_EVENTS }).toArray();
    },

    /** Marks the batch row of an erased run. @returns hash of its input, if the input is long and no other row of the batch uses it */
    markRow: async (batchId: string, index: number): Promise<string | undefined> => {
      const update = { $set: { isErased: true as const }, $unset: { error: 1 as const, measured: 1 as const } };
      const row = await rows.findOneAndUpdate({ batchId, index }, update as object, { writeConcern: DURABLE as never });
      if (!row || !("hash" in row.input)) return undefined;
      const { hash } = row.input;
      const others = { batchId, "input.hash": hash, isErased: { $ne: true } };
      return (await isThere(rows.findOne(others as object))) ? undefined : hash;
    },

    emptyRow: async (batchId: string, index: number): Promise<void> => {
      await rows.updateOne({ batchId, index }, { $set: { input: EMPTY_INPUT } });
    },

    /** Returns true if another run uses the graph. */
    isGraphNamed: (hash: string, userId: string): Promise<boolean> =>
      isThere(executions.findOne({ "graph.hash": hash, userId, ...NOT_ERASED } as object, { projection: { _id: 1 } })),

    /** Returns true if another run uses a long text. Only runs created before each run had its own texts can share them. */
    isTextNamed: (hash: string, userId: string): Promise<boolean> => {
      const names = { $or: [{ "inputs.hash": hash }, { "schema.hash": hash }] };
      return isThere(executions.findOne({ userId, ...NOT_ERASED, ...names } as object, { projection: { _id: 1 } }));
    },

    /** Returns the file names that the inputs or the graph of any unerased run contain. */
    usedNames: async (names: readonly string[], userId: string): Promise<string[]> => {
      const rowsUsing = executions.find<Pick<ExecutionRecord, "uses">>({ uses: { $in: [...names] }, userId, ...NOT_ERASED } as object, {
        projection: { uses: 1 },
      });
      const used = new Set<string>();
      for await (const { uses = [] } of rowsUsing) for (const name of uses) used.add(name);
      return names.filter((name) => used.has(name));
    },

    /** Returns reruns whose results can contain a run's files. Each rerun has the calls that it reused from the run. */
    rerunsOf: (executionId: string, userId: string): AsyncIterable<Naming> =>
      executions.find<Naming>({ "rerun.sources": executionId, userId, ...NOT_ERASED } as object, { projection: NAMES }),
    callsOf: (executionId: string): AsyncIterable<CallRecord> => collection<CallRecord>(Call).find<CallRecord>({ executionId }),

    /** Returns the ids of runs that are erased or missing. */
    areGone: async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
      const remainingRows = await executions
        .find({ _id: { $in: [...ids] }, ...NOT_ERASED } as object, { projection: { _id: 1 } })
        .toArray();
      const living = new Set(remainingRows.map(({ _id }) => _id));
      return new Set(ids.filter((id) => !living.has(id)));
    },
  };
};
