/** Stores approvals of runs. Each change is one conditional update of the row. */
import { DURABLE } from "@nodeloom/platform";
import type { ExecutionEvent } from "../../run/events";
import type { ExecutionView } from "../../run/record";
import type { OutboxEntry } from "../../run/states";
import type { Decision, Approval } from "../../run/approvals";
import { WITHOUT_EVENTS } from "./event-log";
import type { ExecutionModel } from "../schema";

/** Filter: the run waits for a decision. */
export const IS_WAITING = { waiting: true } as const;
/** Filter: the run is under way, and how it ends isn't decided yet. */
const UNDER_WAY = { status: "processing", ending: null } as const;
const AFTER = { returnDocument: "after", ignoreUndefined: true, projection: WITHOUT_EVENTS, writeConcern: DURABLE } as const;

export interface OwedMessages {
  events: readonly ExecutionEvent[];
  outbox: readonly OutboxEntry[];
}

const updateOf = ({ events, outbox }: OwedMessages) => ({
  push: { events: { $each: [...events] } },
  ...(outbox.length > 0 ? { set: { unsettled: true }, add: { outbox: { $each: [...outbox] } } } : { set: {}, add: {} }),
});

export const createApprovalStore = (executions: ExecutionModel) => {
  const change = (filter: object, update: object): Promise<ExecutionView | null> =>
    executions.collection.findOneAndUpdate(filter as never, update as never, AFTER) as Promise<ExecutionView | null>;

  return {
    /** Records that a node waits. @returns null if it waited before, or the run isn't under way */
    begin: (id: string, attempt: number, approval: Approval, owedEntries: OwedMessages): Promise<ExecutionView | null> => {
      const { push, set, add } = updateOf(owedEntries);
      return change(
        { _id: id, attempt, ...UNDER_WAY, "waits.nodeId": { $ne: approval.nodeId } },
        { $push: { waits: approval, ...push }, $addToSet: { waitingFor: approval.nodeId, ...add }, $set: { ...IS_WAITING, ...set } },
      );
    },

    /**
     * Decides an approval, once.
     * @param where further conditions on the row
     * @returns null if the node doesn't wait, or another decision of the run came at the same time
     */
    decide: async (id: string, decision: Decision, owedEntries: OwedMessages, where: object = {}): Promise<ExecutionView | null> => {
      const { push, set, add } = updateOf(owedEntries);
      const { nodeId } = decision;
      const both = {
        $push: { decisions: decision, ...push },
        // The reconciler checks waiting runs less often.
        $set: { seenRunningAt: decision.at, ...set },
        ...(owedEntries.outbox.length > 0 ? { $addToSet: add } : {}),
      };
      const filter = { ...where, _id: id, ...UNDER_WAY };
      const last = await change({ ...filter, waitingFor: [nodeId] }, { ...both, $unset: { waitingFor: 1, waiting: 1 } });
      if (last) return last;
      return change({ ...filter, waitingFor: nodeId, "waitingFor.1": { $exists: true } }, { ...both, $pull: { waitingFor: nodeId } });
    },

    count: (userId: string): Promise<number> => executions.countDocuments({ userId, ...IS_WAITING }).exec(),
  };
};
