import { beyond, fromCursor, removeSome, toCursor } from "@nodeloom/platform";
import { isNotified } from "../../run/delivery";
import { FINAL_STATUSES } from "../../run/states";
import type { CallModel } from "../calls/calls";
import type { DecisionLinkModel } from "./decision-links";
import type { ExecutionView } from "../../run/record";
import type { ExecutionModel } from "../schema";

/** Returns the runs that have a webhook in delivery. */
export type PendingOf = (ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** Data that only a run's row points to. */
export interface DataOfRuns {
  calls: CallModel;
  links: DecisionLinkModel;
}

export interface RemovedPage {
  removed: number;
  /** Cursor of the next page; empty at the end. */
  next: string;
}

/** Filter: final, with an empty outbox, and without a webhook in delivery by this service. */
const over = (before: Date): Record<string, unknown> => ({
  status: { $in: [...FINAL_STATUSES] },
  createdAt: { $lt: before },
  finishedAt: { $lt: before },
  unsettled: { $ne: true },
  "outbox.0": { $exists: false },
  $nor: [{ "webhook.state": "pending", "webhook.isMoved": { $ne: true } }],
});

export const createExpiry = (executions: ExecutionModel, { calls, links }: DataOfRuns) => ({
  /**
   * Deletes executions that ended before a time, with their events and calls. Runs that aren't final, have outbox entries or have a webhook
   * in delivery are kept.
   * @param pendingOf returns the runs whose webhook notifications still delivers
   */
  removeExecutions: async (before: Date, limit: number, cursor: string, pendingOf: PendingOf): Promise<RemovedPage> => {
    const rows = await executions
      .find({ ...over(before), ...beyond("createdAt", fromCursor(cursor)) }, { createdAt: 1, webhook: 1 })
      .sort({ createdAt: 1, _id: 1 })
      .limit(limit)
      .lean<Pick<ExecutionView, "_id" | "createdAt" | "webhook">[]>()
      .exec();
    if (rows.length === 0) return { removed: 0, next: "" };
    const notifiedIds = rows.filter(({ webhook }) => webhook && isNotified(webhook)).map(({ _id }) => _id);
    const pending = notifiedIds.length > 0 ? await pendingOf(notifiedIds) : new Set();
    const ids = rows.map(({ _id }) => _id).filter((id) => !pending.has(id));
    // Delete the row last. Only the row points to the other data, so after a crash in between, the row can still be found.
    await calls.deleteMany({ executionId: { $in: ids } }).exec();
    await links.deleteMany({ executionId: { $in: ids } }).exec();
    const { deletedCount } = await executions.deleteMany({ ...over(before), _id: { $in: ids } }).exec();
    const { createdAt, _id } = rows.at(-1)!;
    return { removed: deletedCount, next: rows.length < limit ? "" : toCursor({ at: createdAt, id: _id }) };
  },

  /** Deletes expired refused attempts with an empty outbox. */
  removeRefused: (now: Date, limit: number): Promise<number> =>
    removeSome(executions, { status: "refused", expiresAt: { $lt: now }, "outbox.0": { $exists: false } }, limit),
});
