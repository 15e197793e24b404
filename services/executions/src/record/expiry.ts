import { beyond, fromCursor, removeSome, toCursor } from "@nodeloom/platform";
import { isNotified } from "../run/delivery";
import { FINAL_STATUSES } from "../run/states";
import type { CallModel } from "./calls";
import type { ExecutionView } from "../run/record";
import type { ExecutionModel } from "./schema";

/** Which of these runs have a webhook in delivery. */
export type PendingOf = (ids: readonly string[]) => Promise<ReadonlySet<string>>;

export interface Removed {
  removed: number;
  /** Where to continue; empty at the end. */
  next: string;
}

/** Filter: final, nothing owed, and no webhook in delivery here. */
const over = (before: Date): Record<string, unknown> => ({
  status: { $in: [...FINAL_STATUSES] },
  createdAt: { $lt: before },
  finishedAt: { $lt: before },
  unsettled: { $ne: true },
  "outbox.0": { $exists: false },
  $nor: [{ "webhook.state": "pending", "webhook.isMoved": { $ne: true } }],
});

export const createExpiry = (executions: ExecutionModel, calls: CallModel) => ({
  /**
   * Deletes executions that ended before a time, with their events and calls. Runs that aren't over, owe something or have a webhook in
   * delivery stay.
   * @param pendingOf which of these runs have a webhook that notifications still delivers
   */
  removeExecutions: async (before: Date, limit: number, cursor: string, pendingOf: PendingOf): Promise<Removed> => {
    const found = await executions
      .find({ ...over(before), ...beyond("createdAt", fromCursor(cursor)) }, { createdAt: 1, webhook: 1 })
      .sort({ createdAt: 1, _id: 1 })
      .limit(limit)
      .lean<Pick<ExecutionView, "_id" | "createdAt" | "webhook">[]>()
      .exec();
    if (found.length === 0) return { removed: 0, next: "" };
    const asked = found.filter(({ webhook }) => webhook && isNotified(webhook)).map(({ _id }) => _id);
    const pending = asked.length > 0 ? await pendingOf(asked) : new Set();
    const ids = found.map(({ _id }) => _id).filter((id) => !pending.has(id));
    // Deletes the row last, because only it leads to the rest: after a crash in between, the row is still found.
    await calls.deleteMany({ executionId: { $in: ids } }).exec();
    const { deletedCount } = await executions.deleteMany({ ...over(before), _id: { $in: ids } }).exec();
    const { createdAt, _id } = found.at(-1)!;
    return { removed: deletedCount, next: found.length < limit ? "" : toCursor({ at: createdAt, id: _id }) };
  },

  /** Deletes expired refused attempts that owe nothing. */
  removeRefused: (now: Date, limit: number): Promise<number> =>
    removeSome(executions, { status: "refused", expiresAt: { $lt: now }, "outbox.0": { $exists: false } }, limit),
});
