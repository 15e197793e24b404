/** Stores webhook messages with their progress and attempts. */
import { beyond, createInserter, DURABLE, removeSome, type ListPosition } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { NEW_STANDING, type DeliveryRecord, type DeliveryState, type NewDelivery, type WebhookAttempt } from "../delivery";
import { documents } from "./documents";

const MAX_ATTEMPTS_KEPT = 50;

const deliverySchema = documents<DeliveryRecord>("deliveries");
// Few messages are pending at a time.
deliverySchema.index({ state: 1, _id: 1 }, { partialFilterExpression: { state: "pending" } });
deliverySchema.index({ ownerId: 1 });
// Lists messages to one endpoint, newest first.
deliverySchema.index({ endpointId: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { endpointId: { $exists: true } } });
// Used to delete old messages.
deliverySchema.index({ createdAt: 1 });

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export const createDeliveryStore = (connection: Connection) => {
  const deliveries = connection.model("Delivery", deliverySchema);
  const insertRow = createInserter<DeliveryRecord>(deliveries.collection as never, DURABLE);
  return {
    /** @returns false if the message was accepted before */
    insert: ({ earlier, ...message }: NewDelivery, createdAt: Date): Promise<boolean> =>
      insertRow({ ...message, ...(earlier ?? NEW_STANDING), createdAt, startedAt: null }),

    find: (id: string): Promise<DeliveryRecord | null> => deliveries.findById(id).lean<DeliveryRecord>().exec(),
    findAll: (ids: readonly string[]): Promise<DeliveryRecord[]> =>
      deliveries
        .find({ _id: { $in: [...ids] } }, { about: 0 })
        .lean<DeliveryRecord[]>()
        .exec(),

    /** Returns a page of an endpoint's messages, newest first. */
    ofEndpoint: (ownerId: string, endpointId: string, after: ListPosition | undefined, limit: number): Promise<DeliveryRecord[]> =>
      deliveries
        .find({ endpointId, ownerId, ...beyond("createdAt", after, "$lt") }, { "about.dataJson": 0 })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .lean<DeliveryRecord[]>()
        .exec(),

    noteStarted: async (id: string, delivery: number, at: Date): Promise<void> => {
      await deliveries.updateOne({ _id: id, delivery }, { $set: { startedAt: at } }).exec();
    },

    /**
     * Returns pending messages, ordered by id. They have no workflow, or their next attempt was due before `late`.
     * @param after last row of the previous page
     */
    listUnstarted: (late: Date, limit: number, after: DeliveryRecord | undefined): Promise<DeliveryRecord[]> => {
      const isLate = { startedAt: { $lt: late }, $or: [{ nextAttemptAt: null }, { nextAttemptAt: { $lt: late } }] };
      return deliveries
        .find({ state: "pending", $or: [{ startedAt: null }, isLate], ...(after ? { _id: { $gt: after._id } } : {}) }, { about: 0 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<DeliveryRecord[]>()
        .exec();
    },

    /** Makes a redelivery the latest delivery, unless it or a later delivery has started. */
    begin: async (id: string, delivery: number, at: Date): Promise<void> => {
      const pending = { delivery, state: "pending" as const, nextAttemptAt: at, startedAt: null };
      await deliveries.updateOne({ _id: id, delivery: { $lt: delivery } }, { $set: pending }, { writeConcern: DURABLE }).exec();
    },

    /** Records an attempt and the delivery's new state once, unless a later delivery has started. */
    record: async (id: string, attempt: WebhookAttempt, state: DeliveryState, nextAttemptAt: Date | null): Promise<void> => {
      const unrecorded = { _id: id, "history.key": { $ne: attempt.key } };
      const endedAt = new Date(attempt.at.getTime() + attempt.durationMs);
      const set = { lastError: attempt.error, ...(attempt.error === null ? { deliveredAt: endedAt } : {}) };
      const more = { $inc: { attempts: 1 }, $push: { history: { $each: [attempt], $slice: -MAX_ATTEMPTS_KEPT } } };
      const latest = await deliveries
        .updateOne({ ...unrecorded, delivery: attempt.delivery }, { ...more, $set: { ...set, state, nextAttemptAt } })
        .exec();
      if (latest.matchedCount === 0) await deliveries.updateOne(unrecorded, { ...more, $set: set }).exec();
    },

    /**
     * Records a delivery's state without an attempt, unless it has ended or a later delivery has started.
     * @param state `pending` if the next attempt must wait; otherwise there is nothing to send
     */
    note: async (id: string, delivery: number, state: DeliveryState, nextAttemptAt: Date | null): Promise<void> => {
      await deliveries.updateOne({ _id: id, delivery, state: "pending" }, { $set: { state, nextAttemptAt } }).exec();
    },

    /** Deletes messages that were accepted before a time and have ended. */
    removeOld: (before: Date, limit: number): Promise<number> =>
      removeSome(deliveries, { createdAt: { $lt: before }, state: { $ne: "pending" } }, limit),
    /** Deletes a run's messages. Their ids equal or start with the run's id. */
    removeRun: async (ownerId: string, executionId: string): Promise<void> => {
      const ids = { $or: [{ _id: executionId }, { _id: { $gte: `${executionId}.`, $lt: `${executionId}/` } }] };
      await deliveries.deleteMany({ ownerId, ...ids }, { writeConcern: DURABLE as never }).exec();
    },
    removeOwned: (ownerId: string, limit: number): Promise<number> => removeSome(deliveries, { ownerId }, limit),
  };
};
