import { CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { runEvent } from "../run/events";
import { finalRecord, settledEvent } from "../run/new-record";
import { missingEvents } from "../run/node-events";
import type { ExecutionEvent, ExecutionView, FinalState } from "../run/record";
import { sourcesOf, UNDECIDED, type OutboxEntry } from "../run/states";
import type { RunEnd, RunInput } from "../run/types";
import { lacks, type LogKeys } from "../store/event-log";
import type { Stores } from "../store/stores";
import type { DecidedEnding } from "../store/transitions";

/** A run keeps the name that its clients were told. */
const named = (state: FinalState, requestId: string | null | undefined): FinalState => (requestId ? { ...state, requestId } : state);

/** The writes by which runs under way end: each is one conditional update, with what the run's log lacks. */
export const createEndWrites = ({ rows, log }: Pick<Stores, "rows" | "log">) => ({
  /**
   * Nothing is appended any more to the log of a run whose ending is decided, but the last of it may still be put away: then it is
   * read again.
   * @returns null where the run can't be ended: it is over, or is what it was before it was claimed
   */
  finish: async (
    executionId: string,
    { events: known, logParts, requestId }: DecidedEnding,
    state: FinalState,
    settled: ExecutionEvent,
    outbox: readonly OutboxEntry[],
  ): Promise<ExecutionView | null> => {
    const made = await retryOnConflict(CONFLICT_ATTEMPTS.runEnd, async (look) => {
      const keys: LogKeys = look === 1 && known ? { events: known, logParts } : await log.logKeys(executionId);
      const events = [...missingEvents(state.nodes, await log.recordedKeys(keys), settled.at), settled];
      const stowed = await log.stowedEnd(named(state, requestId), events);
      const ended = await rows.finish(executionId, stowed.state, stowed.events, outbox, lacks(events, keys.logParts));
      if (ended) return ended;
      const row = await rows.find(executionId);
      return row && sourcesOf("finish", state.status).includes(row.status) ? undefined : null;
    });
    if (made === undefined) throw unavailable("the log of a run changes too often", 1);
    return made;
  },

  /** After a restore of the database a run's row may be gone, or be what it was before the run was claimed: it gets its end all the same. */
  restored: async (input: RunInput, end: RunEnd, state: FinalState, outbox: readonly OutboxEntry[]): Promise<ExecutionView | null> => {
    const { executionId, attempt } = input;
    const row = await rows.find(executionId);
    if (row && UNDECIDED.includes(row.status)) {
      await rows.claim(executionId, attempt, "restored", runEvent("started"));
      const stowed = await log.stowedEnd(state, [settledEvent(end)]);
      return rows.finish(executionId, stowed.state, stowed.events, outbox);
    }
    if (row) return null;
    const record = finalRecord(input, end, state, {}, outbox);
    return (await rows.insert(record)) ? record : null;
  },
});
