/** Webhooks that version 1.0.0 started to deliver: their state, and which of them moved to notifications. */
import type { DeliveryState, WebhookAttempt } from "../../run/delivery";
import type { ExecutionView } from "../../run/record";
import { FINAL_STATUSES } from "../../run/states";
import { WITHOUT_EVENTS } from "../runs/event-log";
import type { ExecutionModel } from "../schema";

const HERE = { "webhook.state": { $exists: true }, "webhook.isMoved": { $ne: true as const } };

export const createDeliveryRecords = (executions: ExecutionModel) => ({
  /** Returns final executions whose next webhook attempt is overdue and hasn't moved to notifications. */
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

  /** Moves a delivery to notifications. Afterwards this service doesn't change it. @returns the row; null if it isn't final */
  move: async (id: string): Promise<ExecutionView | null> => {
    const final = { _id: id, status: { $in: [...FINAL_STATUSES] } };
    await executions.updateOne({ ...final, ...HERE }, { $set: { "webhook.isMoved": true } }).exec();
    return executions.findOne(final, WITHOUT_EVENTS).lean<ExecutionView>().exec();
  },

  /** Stores an attempt and the delivery's new state once, unless the delivery has moved or a later attempt has started. */
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
