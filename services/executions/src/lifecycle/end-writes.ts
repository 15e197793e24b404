import { CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import type { RunEnd, RunInput } from "../run/types";
import type { ExecutionEvent, ExecutionView, FinalState } from "../run/record";
import { lacks, type LogKeys } from "../store/event-log";
import type { Journal } from "../store/journal";
import { missingEvents, plannedEvents } from "../run/node-events";
import type { Stores } from "../store/stores";
import type { DecidedEnding } from "../store/transitions";
import { initialNodes } from "../run/graph-run";
import { finalRecord, settledEvent } from "../run/new-record";
import { runEvent } from "../run/events";
import { sourcesOf, UNDECIDED, type Debt } from "../run/states";

/** A run that is over, as its workflow knows it. */
export interface UndecidedRun extends Pick<RunInput, "executionId" | "receivedAt"> {
  input: RunInput;
}
/** One whose ending was decided: how, and what its log had by then. Without its workflow's input it is known by its row alone. */
export interface DecidedRun extends Pick<RunInput, "executionId" | "receivedAt"> {
  input?: RunInput;
  decided: DecidedEnding;
}
export type FinishedRun = UndecidedRun | DecidedRun;

/** A run keeps the name that its clients were told. */
const named = (state: FinalState, requestId: string | null | undefined): FinalState => (requestId ? { ...state, requestId } : state);

/** The writes by which runs end: each is one conditional update, with what the run's log lacks. */
export const createEndWrites = (stores: Stores, journal: Pick<Journal, "close">) => ({
  /**
   * Writes the end of a run on which nobody has decided, if it is not being cancelled.
   * @returns null where that can't be done by one write: then its ending is to be decided first
   */
  atOnce: (
    { executionId, input }: UndecidedRun,
    state: FinalState,
    settled: ExecutionEvent,
    due: readonly Debt[],
  ): Promise<ExecutionView | null> =>
    journal.close(executionId, async (waiting, known) => {
      const recorded =
        known?.recorded ?? new Set(["admitted", ...plannedEvents(initialNodes(input.plan), settled.at).map(({ key }) => key)]);
      const parts = known?.parts ?? [];
      const missing = missingEvents(state.nodes, new Set([...recorded, ...waiting.map(({ key }) => key)]), settled.at);
      const events = [...waiting, ...missing, settled];
      const stowed = await stores.log.stowedEnd(named(state, known?.requestId), events);
      // After a restore of the database the log may have less than is remembered of it.
      const newest = parts.length > 0 ? undefined : [...recorded].at(-1);
      return stores.rows.finish(executionId, stowed.state, stowed.events, due, { ending: null, ...lacks(events, parts, newest) });
    }),

  /**
   * Nothing is appended any more to the log of a run whose ending is decided, but the last of it may still be put away: then it is
   * read again.
   * @returns null where the run can't be ended: it is over, or is what it was before it was claimed
   */
  write: async (
    { executionId, decided: { events: known, logParts, requestId } }: DecidedRun,
    state: FinalState,
    settled: ExecutionEvent,
    due: readonly Debt[],
  ): Promise<ExecutionView | null> => {
    const made = await retryOnConflict(CONFLICT_ATTEMPTS.runEnd, async (look) => {
      const keys: LogKeys = look === 1 && known ? { events: known, logParts } : await stores.log.logKeys(executionId);
      const events = [...missingEvents(state.nodes, await stores.log.recordedKeys(keys), settled.at), settled];
      const stowed = await stores.log.stowedEnd(named(state, requestId), events);
      const ended = await stores.rows.finish(executionId, stowed.state, stowed.events, due, lacks(events, keys.logParts));
      if (ended) return ended;
      const row = await stores.rows.find(executionId);
      return row && sourcesOf("finish", state.status).includes(row.status) ? undefined : null;
    });
    if (made === undefined) throw unavailable("the log of a run changes too often", 1);
    return made;
  },

  /** After a restore of the database a run's row may be gone, or be what it was before the run was claimed: it gets its end all the same. */
  restored: async ({ input }: DecidedRun, end: RunEnd, state: FinalState, due: readonly Debt[]): Promise<ExecutionView | null> => {
    if (!input) return null;
    const { executionId, attempt } = input;
    const row = await stores.rows.find(executionId);
    if (row && UNDECIDED.includes(row.status)) {
      await stores.rows.claim(executionId, attempt, "restored", runEvent("started"));
      const stowed = await stores.log.stowedEnd(state, [settledEvent(end)]);
      return stores.rows.finish(executionId, stowed.state, stowed.events, due);
    }
    if (row) return null;
    const record = finalRecord(input, end, state, {}, due);
    return (await stores.rows.insert(record)) ? record : null;
  },
});
