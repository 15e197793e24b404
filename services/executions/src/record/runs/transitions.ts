/** Makes all changes of a run's status. Each change is one conditional update. */
import { beyond, createInserter, createUpdater, DURABLE } from "@nodeloom/platform";
import type { FinalStatus, Refusal, StoredText } from "../../run/types";
import { OVER, REFUSED_MS, RUNNING, sourcesOf, UNDECIDED, type OutboxEntry, type RunStatus, type TransitionName } from "../../run/states";
import type { ExecutionRecord, ExecutionView, FinalState } from "../../run/record";
import type { ExecutionEvent } from "../../run/events";
import { lacks, pushed, WITHOUT_EVENTS, type EventLog, type KnownLog, type LogKeys } from "./event-log";
import type { ExecutionModel } from "../schema";

const AFTER = { returnDocument: "after", ignoreUndefined: true } as const;
/** Maximum characters of JSON events that the decision on an ending adds to the row. */
const LAST_CHARS = 4_000;
/** A run that has ended doesn't wait for decisions. */
const NO_WAITS = { waiting: 1, waitingFor: 1 } as const;
const NOTHING_LEFT = { "outbox.0": { $exists: false } } as const;

/** Members that the next attempt doesn't inherit. */
const OF_ONE_ATTEMPT = [
  "refusal",
  "refusedAt",
  "expiresAt",
  "answered",
  "fingerprint",
  "metadata",
  "provenance",
  "graphHidden",
  "mailsApprovers",
  "version",
  "alias",
  "retentionDays",
  "canary",
  "graph",
  "rerun",
  "uses",
  "logParts",
  "nodesHash",
] as const;

type Pending = Pick<ExecutionView, "_id" | "status" | "attempt" | "outbox">;
type EndingPart = Pick<ExecutionRecord, "status" | "ending" | "requestId"> & LogKeys;
const ENDING_PART = { status: 1, ending: 1, requestId: 1, "events.key": 1, logParts: 1 } as const;

/** A run's ending, public id and log. Members are undefined if the row is missing. */
export type DecidedEnding = Partial<EndingPart> & { ending: FinalStatus };

/** Fields of an unsettled row that the relay reads. */
const OWING = { status: 1, attempt: 1, outbox: 1, userId: 1, holdId: 1, inputBytes: 1, queuedAt: 1, createdAt: 1 } as const;
export type OwingRun = Pick<ExecutionRecord, "_id" | keyof typeof OWING>;

/** A run claimed by its workflow. `again` is set if the same workflow claimed it before. */
export interface ClaimedRun {
  row: ExecutionView;
  again: boolean;
}

interface Change {
  /** Applies only to this attempt; undefined for any attempt. */
  attempt?: number | undefined;
  where?: Record<string, unknown>;
  set?: Partial<ExecutionRecord>;
  unset?: Partial<Record<keyof ExecutionRecord, 1>>;
  events?: readonly ExecutionEvent[];
  /** Entries to add to the undelivered entries. */
  outbox: readonly OutboxEntry[];
}

export const createTransitions = (executions: ExecutionModel, { append, stowed }: Pick<EventLog, "append" | "stowed">) => {
  const insert = createInserter<ExecutionRecord>(executions.collection as never, DURABLE);
  // A lost clearance repeats deliveries, which have no effect.
  const clearRow = createUpdater(executions.collection as never, { w: "majority" });

  /** @returns the changed row; null if the transition isn't possible */
  const make = async (name: TransitionName, id: string, to: RunStatus, change: Change): Promise<ExecutionView | null> => {
    const { attempt, where, set, unset, events = [], outbox } = change;
    const filter = { _id: id, status: { $in: sourcesOf(name, to) }, ...(attempt === undefined ? {} : { attempt }), ...where };
    const update = (unsettled: boolean) => ({
      $set: { ...set, status: to, ...(unsettled ? { unsettled: true } : { outbox: [] }) },
      ...(unsettled && !unset ? {} : { $unset: { ...unset, ...(unsettled ? {} : { unsettled: 1 }) } }),
      ...(outbox.length > 0 ? { $addToSet: { outbox: { $each: [...outbox] } } } : {}),
      ...(events.length > 0 ? { $push: { events: { $each: [...events] } } } : {}),
    });
    const write = (where: object, unsettled: boolean): Promise<ExecutionView | null> =>
      executions.collection.findOneAndUpdate(where, update(unsettled) as never, {
        ...AFTER,
        projection: WITHOUT_EVENTS,
        writeConcern: DURABLE,
      }) as Promise<ExecutionView | null>;
    const isUndecided = UNDECIDED.includes(to);
    const settled = outbox.length > 0 || isUndecided ? null : await write({ ...filter, ...NOTHING_LEFT }, false);
    return settled ?? write(filter, true);
  };

  return {
    /** Inserts a run. A repeated call has no effect. @returns true if the run was inserted */
    insert: async (record: ExecutionRecord): Promise<boolean> => insert(await stowed(record)),

    /** Queues a run with the input that will start it. */
    queue: (id: string, attempt: number, runInput: StoredText, inputBytes: number, event: ExecutionEvent): Promise<ExecutionView | null> =>
      make("queue", id, "queued", { attempt, set: { runInput, inputBytes, queuedAt: event.at }, events: [event], outbox: ["usage"] }),

    /**
     * First step of a workflow. It succeeds again for the same workflow, and fails for another workflow.
     * @param started event of a run that was queued
     * @returns null if the run belongs to another workflow
     */
    claim: async (id: string, attempt: number, claimedBy: string, started: ExecutionEvent): Promise<ClaimedRun | null> => {
      const set = { claimedBy, seenRunningAt: started.at };
      const direct = await make("claim", id, "processing", { attempt, where: { status: "accepted" }, set, outbox: ["usage"] });
      if (direct) return { row: direct, again: false };
      const queued = await make("claim", id, "processing", {
        attempt,
        where: { status: "queued" },
        set,
        unset: { runInput: 1 },
        events: [started],
        outbox: ["usage"],
      });
      if (queued) return { row: queued, again: false };
      const row = await executions.findOne({ _id: id, attempt, claimedBy }, WITHOUT_EVENTS).lean<ExecutionView>().exec();
      return row && RUNNING.includes(row.status) ? { row, again: true } : null;
    },

    /** Refuses a run that hasn't started. @returns null if the run was claimed or refused before */
    refuse: (id: string, attempt: number, refusal: Refusal, outbox: readonly OutboxEntry[]): Promise<ExecutionView | null> => {
      const refusedAt = new Date();
      return make("refuse", id, "refused", {
        attempt,
        set: { refusal, refusedAt, expiresAt: new Date(refusedAt.getTime() + REFUSED_MS) },
        outbox,
      });
    },

    /** Replaces a refused run with its next attempt. */
    retry: async (earlier: ExecutionView, record: ExecutionRecord): Promise<ExecutionView | null> => {
      const { _id: id, status: _, outbox: __, unsettled: ___, ...set } = await stowed(record);
      const unsetNames = OF_ONE_ATTEMPT.filter((name) => set[name] === undefined).map((name) => [name, 1] as const);
      return make("retry", id, "accepted", { attempt: earlier.attempt, set, unset: Object.fromEntries(unsetNames), outbox: [] });
    },

    /** Deletes a refused attempt with an empty outbox. */
    forgetRefused: async (id: string, attempt: number): Promise<boolean> => {
      const { deletedCount } = await executions.deleteOne({ _id: id, status: "refused", attempt, ...NOTHING_LEFT }).exec();
      return deletedCount === 1;
    },

    /** Requests cancellation unless the ending is decided. */
    requestCancel: (id: string, userId: string, event: ExecutionEvent): Promise<ExecutionView | null> =>
      make("cancel", id, "cancel_requested", { where: { userId, ending: null }, unset: NO_WAITS, events: [event], outbox: ["cancel"] }),

    /** Ends a queued run. */
    leave: (
      id: string,
      where: Record<string, unknown>,
      state: FinalState,
      events: readonly ExecutionEvent[],
      outbox: readonly OutboxEntry[],
    ) => make("leave", id, state.status, { where, set: { ...state, ending: state.status }, unset: { runInput: 1 }, events, outbox }),

    /** Makes an execution final, once. Returns null if it was already final or doesn't match `where`. */
    finish: (
      id: string,
      state: FinalState,
      events: readonly ExecutionEvent[],
      outbox: readonly OutboxEntry[] = [],
      where: Record<string, unknown> = {},
    ): Promise<ExecutionView | null> =>
      make("finish", id, state.status, { where, set: { ...state, ending: state.status }, unset: NO_WAITS, events, outbox }),

    /**
     * Decides how a run ends, unless it was cancelled first. If the row is missing or older than the run (after a database restore), the
     * given ending applies. Nothing is appended to the log afterwards.
     * @param last events that must precede the ending; written in the same update if possible
     * @param knownLog last known contents of the log
     * @returns the decided ending (the given one, an earlier one, or `cancelled`), with the row's members needed for the settlement
     */
    decideEnding: async (
      id: string,
      ending: FinalStatus,
      last: readonly ExecutionEvent[] = [],
      knownLog?: KnownLog,
    ): Promise<DecidedEnding> => {
      const decide = (where: object, to: FinalStatus, update: Partial<ReturnType<typeof pushed>["push"]> = {}) =>
        executions.collection.findOneAndUpdate(
          { _id: id, ending: null, ...where } as never,
          { ...update, $set: { ...update.$set, ending: to } } as never,
          { ...AFTER, projection: ENDING_PART },
        ) as Promise<DecidedEnding | null>;
      const isPossible = { status: { $in: ending === "cancelled" ? RUNNING : ["processing"] } };
      if (last.length > 0) {
        const { isUnnamed, push } = pushed(last, typeof knownLog?.requestId === "string");
        const isShort = JSON.stringify(last).length <= LAST_CHARS;
        const atOnce = isShort ? await decide({ ...isPossible, ...lacks(last), ...isUnnamed }, ending, push) : null;
        if (atOnce) return atOnce;
        await append(id, last, knownLog);
      }
      const decided = await decide(isPossible, ending);
      if (decided) return decided;
      const current = await executions.findOne({ _id: id }, ENDING_PART).lean<EndingPart>().exec();
      if (current?.ending) return { ...current, ending: current.ending };
      if (current?.status !== "cancel_requested") return { ...current, ending };
      return (await decide({}, "cancelled")) ?? { ...current, ending: "cancelled" };
    },

    /**
     * Clears delivered entries unless the row has changed. A later state of the row may have entries with the same names. Rows that are
     * cleared at the same time share a command.
     */
    clear: async ({ _id, status, attempt, outbox }: Pending, deliveredEntries: readonly OutboxEntry[]): Promise<void> => {
      const isAll = !UNDECIDED.includes(status) && outbox.every((entry) => deliveredEntries.includes(entry));
      if (isAll) {
        const update = { $set: { outbox: [] }, $unset: { unsettled: 1 } };
        return void (await clearRow({ filter: { _id, status, attempt, outbox: [...outbox] }, update }));
      }
      await executions.updateOne({ _id, status, attempt }, { $pull: { outbox: { $in: [...deliveredEntries] } } } as never).exec();
      await executions.updateOne({ _id, ...NOTHING_LEFT, status: { $nin: [...UNDECIDED] } }, { $unset: { unsettled: 1 } }).exec();
    },

    /**
     * Records how a client is answered, if the row doesn't show it.
     * @returns false if the run has ended and can't be accepted any more
     */
    noteAnswer: async (id: string, answered: NonNullable<ExecutionRecord["answered"]>): Promise<boolean> => {
      const where = answered === "accepted" ? { status: { $nin: [...OVER] } } : {};
      return (await executions.updateOne({ _id: id, ...where }, { $set: { answered } }, { writeConcern: DURABLE }).exec()).matchedCount > 0;
    },

    /** Returns rows that have outbox entries or are undecided, oldest first, after the given row. */
    unsettled: (limit: number, last?: Pick<OwingRun, "createdAt" | "_id">): Promise<OwingRun[]> =>
      executions
        .find({ unsettled: true, ...beyond("createdAt", last && { at: last.createdAt, id: last._id }) }, OWING)
        .sort({ createdAt: 1, _id: 1 })
        .limit(limit)
        .lean<OwingRun[]>()
        .exec(),
  };
};
