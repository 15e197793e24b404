/** Every change of the status of a run, each one conditional update. */
import { beyond, createInserter, DURABLE } from "@nodeloom/platform";
import type { FinalStatus, Refusal, StoredText } from "../run/types";
import { REFUSED_MS, RUNNING, sourcesOf, UNDECIDED, type OutboxEntry, type RunStatus, type TransitionName } from "../run/states";
import type { ExecutionRecord, ExecutionView, FinalState } from "../run/record";
import type { ExecutionEvent } from "../run/events";
import { lacks, pushed, WITHOUT_EVENTS, type EventLog, type KnownLog, type LogKeys } from "./event-log";
import type { ExecutionModel } from "./schema";

const AFTER = { returnDocument: "after", ignoreUndefined: true } as const;
/** Characters of events, as JSON, that the decision on a run's ending adds to its row. */
const LAST_CHARS = 4_000;
/** A run that is over, or is about to be, waits for nothing. */
const NO_WAITS = { waiting: 1, waitingFor: 1 } as const;
const NOTHING_LEFT = { "outbox.0": { $exists: false } } as const;

/** What the next attempt at a run has only if it brings it. */
const OF_ONE_ATTEMPT = [
  "refusal",
  "refusedAt",
  "expiresAt",
  "answered",
  "fingerprint",
  "metadata",
  "provenance",
  "graphHidden",
  "version",
  "graph",
  "rerun",
  "logParts",
  "nodesHash",
] as const;

type Pending = Pick<ExecutionView, "_id" | "status" | "attempt" | "outbox">;
type EndingPart = Pick<ExecutionRecord, "status" | "ending" | "requestId"> & LogKeys;
const ENDING_PART = { status: 1, ending: 1, requestId: 1, "events.key": 1, logParts: 1 } as const;

/** How a run ends, its name, and what its log has by then; nothing of a row that is gone. */
export type DecidedEnding = Partial<EndingPart> & { ending: FinalStatus };

/** What the relay needs of a row that owes something, or is undecided. */
const OWING = { status: 1, attempt: 1, outbox: 1, userId: 1, holdId: 1, inputBytes: 1, queuedAt: 1, createdAt: 1 } as const;
export type OwingRun = Pick<ExecutionRecord, "_id" | keyof typeof OWING>;

/** A run that its workflow carries; `again`: it had claimed the run before. */
export interface Claimed {
  row: ExecutionView;
  again: boolean;
}

interface Change {
  /** Of this attempt only; undefined: of any. */
  attempt?: number | undefined;
  where?: Record<string, unknown>;
  set?: Partial<ExecutionRecord>;
  unset?: Partial<Record<keyof ExecutionRecord, 1>>;
  events?: readonly ExecutionEvent[];
  /** What is to be delivered from now on, beside what the transitions before it left undelivered. */
  outbox: readonly OutboxEntry[];
}

export const createTransitions = (executions: ExecutionModel, { append, stowed }: Pick<EventLog, "append" | "stowed">) => {
  const insert = createInserter<ExecutionRecord>(executions.collection as never, DURABLE);

  /** @returns the row as it is then; null when the transition is not possible (any more) */
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
    /** Inserts a run; a repeated insert changes nothing. @returns whether it was inserted */
    insert: async (record: ExecutionRecord): Promise<boolean> => insert(await stowed(record)),

    /** Waits in the queue: what it will be started with is kept. */
    queue: (id: string, attempt: number, runInput: StoredText, inputBytes: number, event: ExecutionEvent): Promise<ExecutionView | null> =>
      make("queue", id, "queued", { attempt, set: { runInput, inputBytes, queuedAt: event.at }, events: [event], outbox: ["usage"] }),

    /**
     * The first step of a workflow. Repeated by the same workflow it holds again; any other one has come too late.
     * @param started the event of a run that has waited in the queue
     * @returns null when the run is not this workflow's
     */
    claim: async (id: string, attempt: number, claimedBy: string, started: ExecutionEvent): Promise<Claimed | null> => {
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

    /** Nothing runs. @returns null when the run was claimed, or had been refused already */
    refuse: (id: string, attempt: number, refusal: Refusal, outbox: readonly OutboxEntry[]): Promise<ExecutionView | null> => {
      const refusedAt = new Date();
      return make("refuse", id, "refused", {
        attempt,
        set: { refusal, refusedAt, expiresAt: new Date(refusedAt.getTime() + REFUSED_MS) },
        outbox,
      });
    },

    /** The next attempt at a refused run, as if it were new. */
    retry: async (earlier: ExecutionView, record: ExecutionRecord): Promise<ExecutionView | null> => {
      const { _id: id, status: _, outbox: __, unsettled: ___, ...set } = await stowed(record);
      const gone = OF_ONE_ATTEMPT.filter((name) => set[name] === undefined).map((name) => [name, 1] as const);
      return make("retry", id, "accepted", { attempt: earlier.attempt, set, unset: Object.fromEntries(gone), outbox: [] });
    },

    /** Forgets a refused attempt with nothing to deliver. */
    forgetRefused: async (id: string, attempt: number): Promise<boolean> => {
      const { deletedCount } = await executions.deleteOne({ _id: id, status: "refused", attempt, ...NOTHING_LEFT }).exec();
      return deletedCount === 1;
    },

    /** Asks a run to stop, unless it has decided how it ends. */
    requestCancel: (id: string, userId: string, event: ExecutionEvent): Promise<ExecutionView | null> =>
      make("cancel", id, "cancel_requested", { where: { userId, ending: null }, unset: NO_WAITS, events: [event], outbox: ["cancel"] }),

    /** Ends a run that waits in the queue. */
    leave: (
      id: string,
      where: Record<string, unknown>,
      state: FinalState,
      events: readonly ExecutionEvent[],
      outbox: readonly OutboxEntry[],
    ) => make("leave", id, state.status, { where, set: { ...state, ending: state.status }, unset: { runInput: 1 }, events, outbox }),

    /** Makes an execution final, once. Returns null when it was final already, or is not what `where` says. */
    finish: (
      id: string,
      state: FinalState,
      events: readonly ExecutionEvent[],
      outbox: readonly OutboxEntry[] = [],
      where: Record<string, unknown> = {},
    ): Promise<ExecutionView | null> =>
      make("finish", id, state.status, { where, set: { ...state, ending: state.status }, unset: NO_WAITS, events, outbox }),

    /**
     * Fixes how a run ends, unless it was cancelled first. One whose row is gone, or is what it was before it ran (after a
     * restore of the database), ends as it would have. Its log takes nothing more after that.
     * @param last what its log must have before that: it is written by the same update, where it can be
     * @param known what its log was last known to hold
     * @returns the ending that holds (the given one, an earlier one, or `cancelled`), with what its settlement needs of the row
     */
    decideEnding: async (
      id: string,
      ending: FinalStatus,
      last: readonly ExecutionEvent[] = [],
      known?: KnownLog,
    ): Promise<DecidedEnding> => {
      const decide = (where: object, to: FinalStatus, update: Partial<ReturnType<typeof pushed>["push"]> = {}) =>
        executions.collection.findOneAndUpdate(
          { _id: id, ending: null, ...where } as never,
          { ...update, $set: { ...update.$set, ending: to } } as never,
          { ...AFTER, projection: ENDING_PART },
        ) as Promise<DecidedEnding | null>;
      const isPossible = { status: { $in: ending === "cancelled" ? RUNNING : ["processing"] } };
      if (last.length > 0) {
        const { isUnnamed, push } = pushed(last, typeof known?.requestId === "string");
        const isShort = JSON.stringify(last).length <= LAST_CHARS;
        const atOnce = isShort ? await decide({ ...isPossible, ...lacks(last), ...isUnnamed }, ending, push) : null;
        if (atOnce) return atOnce;
        await append(id, last, known);
      }
      const decided = await decide(isPossible, ending);
      if (decided) return decided;
      const current = await executions.findOne({ _id: id }, ENDING_PART).lean<EndingPart>().exec();
      if (current?.ending) return { ...current, ending: current.ending };
      if (current?.status !== "cancel_requested") return { ...current, ending };
      return (await decide({}, "cancelled")) ?? { ...current, ending: "cancelled" };
    },

    /** Clears what was delivered of a row, unless it has moved on: an entry of its later state may have the same name. */
    clear: async ({ _id, status, attempt, outbox }: Pending, done: readonly OutboxEntry[]): Promise<void> => {
      const isAll = !UNDECIDED.includes(status) && outbox.every((entry) => done.includes(entry));
      if (isAll) {
        const cleared = { $set: { outbox: [] }, $unset: { unsettled: 1 } } as const;
        return void (await executions.updateOne({ _id, status, attempt, outbox: [...outbox] }, cleared).exec());
      }
      await executions.updateOne({ _id, status, attempt }, { $pull: { outbox: { $in: [...done] } } } as never).exec();
      await executions.updateOne({ _id, ...NOTHING_LEFT, status: { $nin: [...UNDECIDED] } }, { $unset: { unsettled: 1 } }).exec();
    },

    /** Notes how a client was answered, where the row doesn't say it. */
    noteAnswer: async (id: string, answered: NonNullable<ExecutionRecord["answered"]>): Promise<void> => {
      await executions.updateOne({ _id: id }, { $set: { answered } }, { writeConcern: DURABLE }).exec();
    },

    /** Rows with something to deliver, or undecided, oldest first, after a given one. */
    unsettled: (limit: number, last?: Pick<OwingRun, "createdAt" | "_id">): Promise<OwingRun[]> =>
      executions
        .find({ unsettled: true, ...beyond("createdAt", last && { at: last.createdAt, id: last._id }) }, OWING)
        .sort({ createdAt: 1, _id: 1 })
        .limit(limit)
        .lean<OwingRun[]>()
        .exec(),
  };
};
