/** row/: the row of a run from its insertion to its end, and what its log says meanwhile. */
import type { DomainError } from "@nodeloom/kernel";
import type { FinalStatus, RunEnd, RunError, RunInput } from "../run/types";
import { countRefusal, countRun } from "../meters";
import type { ExecutionEvent, ExecutionRecord, ExecutionView } from "../run/record";
import type { EventChannel } from "../store/channel";
import type { Appended } from "../store/event-log";
import { createJournal } from "../store/journal";
import { missingEvents } from "../run/node-events";
import type { Stores } from "../store/stores";
import type { DecidedEnding } from "../store/transitions";
import { refusalOf } from "../run/refusals";
import { skipPending } from "../run/graph-run";
import { createEndWrites, type FinishedRun } from "./end-writes";
import { createProgress } from "./progress";
import { runEvent } from "../run/events";
import { finalRecord, finalState, FREE, settledEvent, targetOf, type Charged, type RunRecordPart } from "../run/new-record";
import { CANCEL_REQUESTED, endDebts, refusalDebts, TRANSITION_EVENTS, type Debt } from "../run/states";

export type Execution = ReturnType<typeof createExecution>;

/** The life of one execution: every change is recorded first and announced after. */
export const createExecution = ({ stores, channel }: { stores: Stores; channel: Pick<EventChannel, "publish"> }) => {
  const announce = (executionId: string, said: ExecutionEvent, record?: ExecutionView): void =>
    channel.publish(executionId, { type: said.type, at: said.at.getTime(), data: said.data }, record);
  /** Who follows a run reads its log: one message says that there is something to read. */
  const announceProgress = (executionId: string, said: readonly ExecutionEvent[], { row }: Appended): void =>
    announce(executionId, said.find(({ type }) => TRANSITION_EVENTS.has(type)) ?? said.at(-1)!, row);

  const journal = createJournal({ append: stores.log.append, announce: announceProgress });
  const { claimed: progressBegins, over: progressEnds, ...progress } = createProgress(journal);
  const ends = createEndWrites(stores, journal);

  return {
    ...progress,
    /** Writes all progress that waits to be written. */
    flush: journal.flush,

    /**
     * Inserts a run that is over when it begins, with what it owes.
     * @param isAwaited whether anybody but its caller may know of it by now
     * @returns the row, or null when there is one already
     */
    insertFinal: async (
      input: RunInput,
      end: RunEnd,
      part: RunRecordPart,
      due: readonly Debt[],
      isAwaited = true,
    ): Promise<ExecutionRecord | null> => {
      const record = finalRecord(input, end, finalState(input, end, FREE), part, due);
      if (!(await stores.rows.insert(record))) return null;
      countRun(end, targetOf(input), record.durationMs ?? 0);
      if (isAwaited) announce(input.executionId, record.events.at(-1)!, record);
      return record;
    },

    /**
     * accepted | queued → processing, for one workflow.
     * @returns null when the run is not that workflow's to carry; `again` when it had claimed the run before
     */
    claim: async (executionId: string, attempt: number, claimedBy: string): Promise<{ row: ExecutionView; again: boolean } | null> => {
      const started = runEvent("started");
      const claimed = await stores.rows.claim(executionId, attempt, claimedBy, started);
      if (!claimed) return null;
      const { row, again } = claimed;
      if (!again) progressBegins(executionId, row.mode === "sync");
      if (!again) announce(executionId, row.queuedAt ? started : runEvent("admitted"), row);
      return { row, again };
    },

    /** accepted → refused, with what that leaves. @returns the row as it is then; null when the run is decided otherwise */
    refuse: async (row: ExecutionView, error: DomainError, due: readonly Debt[] = refusalDebts(row.attempt)) => {
      const refused = await stores.rows.refuse(row._id, row.attempt, refusalOf(error), due);
      if (!refused) return null;
      countRefusal(error);
      announce(row._id, runEvent("refused"), refused);
      return refused;
    },

    /** accepted → queued. @returns null when the run is decided otherwise */
    queue: async (row: ExecutionView, input: RunInput, position: number): Promise<ExecutionView | null> => {
      const json = JSON.stringify(input);
      const said = runEvent("queued", { position });
      const queued = await stores.rows.queue(row._id, row.attempt, await stores.payloads.putText(json), json.length, said);
      if (queued) announce(row._id, said, queued);
      return queued;
    },

    /** queued → cancelled | failed: nothing of it ever ran. @returns null when it does not wait in line (any more) */
    leaveLine: async (executionId: string, where: Record<string, unknown>, error: RunError | null): Promise<ExecutionView | null> => {
      const found = await stores.rows.find(executionId);
      if (found?.status !== "queued") return null;
      const row = await stores.log.whole(found);
      const status = error ? "failed" : "cancelled";
      const nodes = skipPending(row.nodes);
      const end: RunEnd = { status, result: null, error, requestId: null, nodes, completed: [] };
      const recorded = await stores.log.recordedKeys(await stores.log.logKeys(executionId));
      const events = [...(error ? [] : [runEvent(CANCEL_REQUESTED)]), ...missingEvents(nodes, recorded, new Date())];
      const settled = settledEvent(end);
      const due = [...refusalDebts(row.attempt), ...endDebts(row.webhook !== null)];
      const stowed = await stores.log.stowedEnd(finalState({ receivedAt: row.createdAt.getTime() }, end, FREE), [...events, settled]);
      const left = await stores.rows.leave(executionId, where, stowed.state, stowed.events, due);
      if (!left) return null;
      countRun(end, targetOf(left), left.durationMs ?? 0);
      announce(executionId, settled, left);
      return left;
    },

    /** processing → cancel_requested. @returns null when the run is not under way, or its ending is decided */
    requestCancel: async (executionId: string, userId: string): Promise<ExecutionView | null> => {
      const requested = runEvent(CANCEL_REQUESTED);
      const made = await stores.rows.requestCancel(executionId, userId, requested);
      if (made) announce(executionId, requested);
      return made;
    },

    /** Fixes how a run ends, and what its log says until then. @returns the ending that holds */
    decideEnding: async (executionId: string, ending: FinalStatus): Promise<DecidedEnding> => {
      const decided = await journal.close(executionId, (waiting, known) => stores.rows.decideEnding(executionId, ending, waiting, known));
      progressEnds(executionId);
      return decided;
    },

    /**
     * Makes a run final, and says so when what its readers look for is done. Idempotent.
     * @param pay does what the row owes to readers of its end
     * @returns whether this made it final: not where it was, nor where it is being cancelled and its ending was not decided
     */
    finish: async (
      run: FinishedRun,
      end: RunEnd,
      charge: Charged,
      due: readonly Debt[],
      pay: (row: ExecutionView) => Promise<void>,
    ): Promise<boolean> => {
      const { executionId } = run;
      const settled = settledEvent(end);
      const state = finalState(run, end, charge);
      const ended =
        "decided" in run
          ? ((await ends.write(run, state, settled, due)) ?? (await ends.restored(run, end, state, due)))
          : await ends.atOnce(run, state, settled, due);
      if (!ended) return false;
      progressEnds(executionId);
      countRun(end, targetOf(ended), ended.durationMs ?? 0);
      await pay(ended);
      // Who waits for it in this process need not read its result again, nor pay.
      announce(executionId, settled, { ...ended, due: [], resultJson: state.resultJson });
      return true;
    },
  };
};
