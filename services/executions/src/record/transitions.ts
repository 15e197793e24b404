import type { FinalStatus, Refusal } from "../contract/run-types";
import { REFUSED_MS, RUNNING, TRANSITIONS, type Debt, type RunStatus, type TransitionName } from "../lifecycle/states";
import type { ExecutionEvent, ExecutionRecord, ExecutionView, FinalState, StoredText } from "./execution-record";
import type { ExecutionModel } from "./schema";
import { DURABLE, insertOnce } from "./write";

const WITHOUT_EVENTS = { events: 0 } as const;

/** A transition that was made: the row as it is then, and the number of its last event. */
export interface Made {
  row: ExecutionView;
  sequence: number;
}

interface Change {
  /** Of this attempt only; undefined for rows of before attempts were counted. */
  attempt?: number | undefined;
  where?: Record<string, unknown>;
  set?: Partial<ExecutionRecord>;
  unset?: Partial<Record<keyof ExecutionRecord, 1>>;
  events?: readonly ExecutionEvent[];
  /** What is owed from now on. */
  due: readonly Debt[];
}

/** Every change of a row's status: one conditional update each, as the table of states has it. */
export const createTransitions = (executions: ExecutionModel) => {
  const make = async (name: TransitionName, id: string, to: RunStatus, change: Change): Promise<Made | null> => {
    const { attempt, where, set, unset, events = [], due } = change;
    const from: readonly RunStatus[] = TRANSITIONS[name].from;
    const undecided = to === "accepted" || to === "queued";
    const owes = due.length > 0 || undecided;
    const row = await executions
      .findOneAndUpdate(
        { _id: id, status: { $in: from }, ...(attempt === undefined ? {} : { attempt }), ...where },
        {
          $set: { ...set, status: to, due: [...due], ...(owes ? { owes: true } : {}) },
          ...(owes && !unset ? {} : { $unset: { ...unset, ...(owes ? {} : { owes: 1 }) } }),
          ...(events.length > 0 ? { $push: { events: { $each: [...events] } } } : {}),
        } as never,
        { returnDocument: "after", writeConcern: DURABLE },
      )
      .lean<ExecutionRecord>()
      .exec();
    return row && { row, sequence: row.events.length };
  };

  return {
    /** Inserts a run; a repeated insert changes nothing. @returns whether it was inserted */
    insert: (record: ExecutionRecord): Promise<boolean> =>
      insertOnce(executions.collection.insertOne(record as never, { writeConcern: DURABLE })),

    /** Waits in line: what it will be started with is kept. */
    queue: (id: string, attempt: number, runInput: StoredText, inputBytes: number, event: ExecutionEvent): Promise<Made | null> =>
      make("queue", id, "queued", { attempt, set: { runInput, inputBytes, queuedAt: event.at }, events: [event], due: [] }),

    /**
     * The first step of a workflow. Repeated by the same workflow it holds again; any other one has come too late.
     * @param started the event of a run that has waited in line
     * @returns null when the run is not this workflow's
     */
    claim: async (id: string, attempt: number, claimedBy: string, started: ExecutionEvent): Promise<(Made & { again: boolean }) | null> => {
      const set = { claimedBy, seenRunningAt: started.at };
      const direct = await make("claim", id, "processing", { attempt, where: { status: "accepted" }, set, due: ["usage"] });
      if (direct) return { ...direct, again: false };
      const queued = await make("claim", id, "processing", {
        attempt,
        where: { status: "queued" },
        set,
        unset: { runInput: 1 },
        events: [started],
        due: ["usage"],
      });
      if (queued) return { ...queued, again: false };
      const row = await executions.findOne({ _id: id, attempt, claimedBy }).lean<ExecutionRecord>().exec();
      return row && RUNNING.includes(row.status) ? { row, sequence: row.events.length, again: true } : null;
    },

    /** Nothing runs. @returns null when the run was claimed, or had been refused already */
    refuse: (id: string, attempt: number, refusal: Refusal, due: readonly Debt[]): Promise<Made | null> => {
      const refusedAt = new Date();
      return make("refuse", id, "refused", {
        attempt,
        set: { refusal, refusedAt, expiresAt: new Date(refusedAt.getTime() + REFUSED_MS) },
        due,
      });
    },

    /** The next attempt at a refused run, as if it were new. What earlier attempts owe is still owed. */
    retry: async (earlier: ExecutionView, record: ExecutionRecord): Promise<Made | null> => {
      const { _id: id, status: _, due, owes: __, ...set } = record;
      const owed = (earlier.due ?? []).filter((debt) => debt.startsWith("void:"));
      return make("retry", id, "accepted", {
        attempt: earlier.attempt,
        set,
        unset: { refusal: 1, refusedAt: 1, expiresAt: 1, told: 1 },
        due: [...owed, ...(due ?? [])],
      });
    },

    /** Forgets a refused attempt that owes nothing. */
    forgetRefused: async (id: string, attempt: number): Promise<boolean> => {
      const { deletedCount } = await executions.deleteOne({ _id: id, status: "refused", attempt, "due.0": { $exists: false } }).exec();
      return deletedCount === 1;
    },

    /** Asks a run to stop, unless it has decided how it ends. */
    requestCancel: (id: string, userId: string, event: ExecutionEvent): Promise<Made | null> =>
      make("cancel", id, "cancel_requested", { where: { userId, ending: null }, events: [event], due: ["cancel"] }),

    /** Ends a run that waits in line. */
    leave: (id: string, where: Record<string, unknown>, state: FinalState, events: readonly ExecutionEvent[], due: readonly Debt[]) =>
      make("leave", id, state.status, { where, set: { ...state, ending: state.status }, unset: { runInput: 1 }, events, due }),

    /** Makes an execution final, once. Returns null when it was final already. */
    finish: (id: string, state: FinalState, events: readonly ExecutionEvent[], due: readonly Debt[] = []): Promise<Made | null> =>
      make("finish", id, state.status, { set: state, events, due }),

    /**
     * Fixes how a run ends, unless it was cancelled first. A run whose row is gone (after a restore) ends as it would have.
     * @returns the ending that holds: the given one, an earlier one, or `cancelled`.
     */
    decideEnding: async (id: string, ending: FinalStatus): Promise<FinalStatus> => {
      const allowed: readonly RunStatus[] = ending === "cancelled" ? RUNNING : ["processing"];
      const decided = await executions.updateOne({ _id: id, status: { $in: allowed }, ending: null }, { $set: { ending } }).exec();
      if (decided.modifiedCount === 1) return ending;
      const current = await executions.findOne({ _id: id }, { status: 1, ending: 1 }).lean<Pick<ExecutionRecord, "ending">>().exec();
      if (!current) return ending;
      if (current.ending) return current.ending;
      await executions.updateOne({ _id: id, ending: null }, { $set: { ending: "cancelled" } }).exec();
      return "cancelled";
    },

    /** Strikes out what was done. */
    strike: async (id: string, debts: readonly Debt[]): Promise<void> => {
      await executions.updateOne({ _id: id }, { $pull: { due: { $in: [...debts] } } } as never).exec();
      const undecided: RunStatus[] = ["accepted", "queued"];
      await executions.updateOne({ _id: id, "due.0": { $exists: false }, status: { $nin: undecided } }, { $unset: { owes: 1 } }).exec();
    },

    /** Remembers what a client was told, where the row doesn't say it. */
    tell: async (id: string, told: NonNullable<ExecutionRecord["told"]>): Promise<void> => {
      await executions.updateOne({ _id: id }, { $set: { told } }, { writeConcern: DURABLE }).exec();
    },

    /** Rows that owe something or are undecided, oldest first, after a given one. */
    owing: (limit: number, after?: Pick<ExecutionView, "createdAt" | "_id">): Promise<ExecutionView[]> =>
      executions
        .find(
          {
            owes: true,
            ...(after ? { $or: [{ createdAt: { $gt: after.createdAt } }, { createdAt: after.createdAt, _id: { $gt: after._id } }] } : {}),
          },
          { ...WITHOUT_EVENTS, nodes: 0, resultJson: 0 },
        )
        .sort({ createdAt: 1, _id: 1 })
        .limit(limit)
        .lean<ExecutionView[]>()
        .exec(),
  };
};
