/** Webhooks that 1.0.0 had begun to deliver: how far each has come, and which of them went to notifications. */
import type { DeliveryState, WebhookAttempt } from "../run/delivery";
import type { ExecutionView } from "../run/record";
import { FINAL_STATUSES } from "../run/states";
import { WITHOUT_EVENTS } from "./event-log";
import type { ExecutionModel } from "./schema";

const HERE = { "webhook.state": { $exists: true }, "webhook.isMoved": { $ne: true as const } };

export const createDeliveryRecords = (executions: ExecutionModel) => ({
  /** Final executions whose webhook's next attempt should have been before a time, and is still to be made here. */
  late: (before: Date, limit: number): Promise<Pick<ExecutionView, "_id">[]> =>
    executions
      .find(
        {
          ...HERE,
          "webhook.state": "pending",
          finishedAt: { $lt: before },
          $or: [{ "webhook.nextAttemptAt": null }, { "webhook.nextAttemptAt": { $lt: before } }],
        },
        { _id: 1 },
      )
      .sort({ finishedAt: 1, _id: 1 })
      .limit(limit)
      .lean<Pick<ExecutionView, "_id">[]>()
      .exec(),

  /** Makes notifications the owner of a delivery: from then on nothing of it changes here. @returns the row, unless it is not final */
  move: async (id: string): Promise<ExecutionView | null> => {
    const final = { _id: id, status: { $in: [...FINAL_STATUSES] } };
    await executions.updateOne({ ...final, ...HERE }, { $set: { "webhook.isMoved": true } }).exec();
    return executions.findOne(final, WITHOUT_EVENTS).lean<ExecutionView>().exec();
  },

  /** Keeps an attempt, once, and where the delivery stands after it, unless it has moved or a later one has begun. */
  record: async (id: string, attempt: WebhookAttempt, state: DeliveryState): Promise<void> => {
    const here = { _id: id, ...HERE, "webhook.delivery": attempt.delivery, "webhook.history.key": { $ne: attempt.key } };
    const set = {
      "webhook.state": state,
      "webhook.lastError": attempt.error,
      ...(attempt.error === null ? { "webhook.deliveredAt": new Date(attempt.at.getTime() + attempt.durationMs) } : {}),
    };
    await executions.updateOne(here, { $set: set, $inc: { "webhook.attempts": 1 }, $push: { "webhook.history": attempt } }).exec();
  },
});
