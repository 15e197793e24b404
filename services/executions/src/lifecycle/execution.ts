import type { DomainError } from "@nodeloom/kernel";
import type { FinalStatus, RunInput } from "../run/types";
import { countRefusal } from "../meters";
import type { ExecutionEvent, ExecutionView } from "../run/record";
import type { EventChannel } from "../store/channel";
import type { Appended } from "../store/event-log";
import { createJournal } from "../store/journal";
import type { Stores } from "../store/stores";
import type { DecidedEnding } from "../store/transitions";
import { refusalOf } from "../run/refusals";
import { createProgress } from "./progress";
import { runEvent } from "../run/events";
import { CANCEL_REQUESTED, refusalOutbox, TRANSITION_EVENTS, type OutboxEntry } from "../run/states";

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

  return {
    ...progress,
    announce,
    /** A run's progress is of no interest any more. */
    progressEnds,
    /** Writes all progress that waits to be written. */
    flush: journal.flush,

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
    refuse: async (row: ExecutionView, error: DomainError, outbox: readonly OutboxEntry[] = refusalOutbox(row.attempt)) => {
      const refused = await stores.rows.refuse(row._id, row.attempt, refusalOf(error), outbox);
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

    /** processing → cancel_requested. @returns null when the run is not under way, or its ending is decided */
    requestCancel: async (executionId: string, userId: string): Promise<ExecutionView | null> => {
      const requested = runEvent(CANCEL_REQUESTED);
      const made = await stores.rows.requestCancel(executionId, userId, requested);
      if (made) announce(executionId, requested);
      return made;
    },

    /** Fixes how a run ends, and what its log says until then. @returns the ending that holds */
    decideEnding: (executionId: string, ending: FinalStatus): Promise<DecidedEnding> =>
      journal.close(executionId, (waiting, known) => stores.rows.decideEnding(executionId, ending, waiting, known)),
  };
};
