/** The webhooks of runs: where each delivery stands, and its attempts. */
import { beyond } from "@nodeloom/platform";
import type { DeliveryState, WebhookAttempt } from "../run/delivery";
import type { ExecutionView } from "../run/record";
import { WITHOUT_EVENTS } from "./event-log";
import type { ExecutionModel } from "./schema";

const MAX_ATTEMPTS_KEPT = 50;

export const createDeliveryRecords = (executions: ExecutionModel) => ({
  /** Final executions whose webhook's next attempt should have been before a time, by when they ended; from after a given one. */
  late: (before: Date, limit: number, last?: Pick<ExecutionView, "_id" | "finishedAt">): Promise<ExecutionView[]> => {
    const isDue = { $or: [{ "webhook.nextAttemptAt": null }, { "webhook.nextAttemptAt": { $lt: before } }] };
    const isFurther = beyond("finishedAt", last && { at: last.finishedAt!, id: last._id });
    return executions
      .find({ "webhook.state": "pending", finishedAt: { $lt: before }, $and: [isDue, isFurther] }, WITHOUT_EVENTS)
      .sort({ finishedAt: 1, _id: 1 })
      .limit(limit)
      .lean<ExecutionView[]>()
      .exec();
  },

  /** Makes a redelivery the latest one, unless it is or a later one has begun. */
  begin: async (id: string, delivery: number, at: Date): Promise<void> => {
    const begun = { "webhook.delivery": delivery, "webhook.state": "pending", "webhook.nextAttemptAt": at };
    await executions.updateOne({ _id: id, "webhook.delivery": { $lt: delivery } }, { $set: begun }).exec();
  },

  /** Keeps an attempt, once, and where the delivery stands after it, unless a later delivery has begun. */
  record: async (id: string, attempt: WebhookAttempt, state: DeliveryState, nextAttemptAt: Date | null): Promise<void> => {
    const unrecorded = { _id: id, "webhook.history.key": { $ne: attempt.key } };
    const ended = new Date(attempt.at.getTime() + attempt.durationMs);
    const set = {
      "webhook.lastError": attempt.error,
      ...(attempt.error === null ? { "webhook.deliveredAt": ended } : {}),
    };
    const more = { $inc: { "webhook.attempts": 1 }, $push: { "webhook.history": { $each: [attempt], $slice: -MAX_ATTEMPTS_KEPT } } };
    const standing = { "webhook.state": state, "webhook.nextAttemptAt": nextAttemptAt };
    const latest = await executions
      .updateOne({ ...unrecorded, "webhook.delivery": attempt.delivery }, { ...more, $set: { ...set, ...standing } })
      .exec();
    if (latest.matchedCount === 0) await executions.updateOne(unrecorded, { ...more, $set: set }).exec();
  },

  /**
   * Notes where a delivery stands without an attempt, unless it is over or a later one has begun.
   * @param state `pending` where its next attempt has to wait; else there is nothing to send
   */
  note: async (id: string, delivery: number, state: DeliveryState, nextAttemptAt: Date | null): Promise<void> => {
    const standing = { "webhook.state": state, "webhook.nextAttemptAt": nextAttemptAt };
    await executions.updateOne({ _id: id, "webhook.delivery": delivery, "webhook.state": "pending" }, { $set: standing }).exec();
  },
});
