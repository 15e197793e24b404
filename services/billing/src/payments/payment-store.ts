import { DURABLE, insertOnce, isDuplicateKey, removeSome } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import { COMMITTED } from "../audit-store";
import type { Payment } from "./payment";

/** A started purchase. */
export interface Checkout {
  /** Reference of the request. */
  id: string;
  userId: string;
  millicredits: number;
  /** Amount in cents. */
  amount: number;
  currency: string;
  at: Date;
}

type CheckoutDocument = Omit<Checkout, "id"> & { _id: string };
type PaymentDocument = Omit<Payment, "id"> & {
  _id: string;
  /** Set until a purchase claims the payment. Refunds of other sellers on the same Stripe account also create such rows. */
  unclaimedSince?: Date;
};

const OPERATION_TIMEOUT_MS = 10_000;
const REMOVED_PAGE = 1_000;

const checkoutSchema = new Schema<CheckoutDocument>(
  {
    _id: { type: String, required: true },
    userId: { type: String, required: true },
    millicredits: { type: Number, required: true },
    amount: { type: Number, required: true },
    currency: { type: String, required: true },
    at: { type: Date, required: true },
  },
  { collection: "checkouts", autoCreate: false, versionKey: false, writeConcern: DURABLE },
);
// Used to remove the oldest checkouts.
checkoutSchema.index({ at: 1 });
// Used to count an account's recent checkouts.
checkoutSchema.index({ userId: 1, at: 1 });

const paymentSchema = new Schema<PaymentDocument>(
  {
    _id: { type: String, required: true },
    revision: { type: Number, required: true },
    purchase: Schema.Types.Mixed,
    reversals: [Schema.Types.Mixed],
    unclaimedSince: Date,
  },
  { collection: "payments", autoCreate: false, minimize: false, versionKey: false, writeConcern: DURABLE },
);
// Used to remove unclaimed payments.
paymentSchema.index({ unclaimedSince: 1 });

export type PaymentStore = ReturnType<typeof createPaymentStore>;

/** Stores checkouts and payments. Every write is an insert, or a conditional update of one document. */
export const createPaymentStore = (connection: Connection) => {
  const checkouts = connection.model<CheckoutDocument>("Checkout", checkoutSchema);
  const payments = connection.model<PaymentDocument>("Payment", paymentSchema);

  return {
    /** @returns false if the id exists */
    addCheckout: ({ id, ...checkout }: Checkout): Promise<boolean> => insertOnce(checkouts.create([{ _id: id, ...checkout }])),

    findCheckout: async (id: string): Promise<Checkout | undefined> => {
      const document = await checkouts.findById(id).readConcern(COMMITTED).maxTimeMS(OPERATION_TIMEOUT_MS).lean<CheckoutDocument | null>();
      if (!document) return undefined;
      const { _id, ...checkout } = document;
      return { id: _id, ...checkout };
    },

    countCheckouts: (userId: string, since: Date): Promise<number> =>
      checkouts
        .countDocuments({ userId, at: { $gte: since } })
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .exec(),

    findPayment: async (id: string): Promise<Payment | undefined> => {
      const document = await payments.findById(id).readConcern(COMMITTED).maxTimeMS(OPERATION_TIMEOUT_MS).lean<PaymentDocument | null>();
      return document
        ? { id: document._id, revision: document.revision, purchase: document.purchase, reversals: document.reversals }
        : undefined;
    },

    /** Writes `after` if the payment hasn't changed since it was read as `before`. @returns false otherwise */
    commitPayment: async (before: Payment, after: Payment, at: Date): Promise<boolean> => {
      const { purchase, reversals } = after;
      const isFirst = before.revision === 0;
      const unclaimed = purchase ? { $unset: { unclaimedSince: 1 } } : isFirst ? { $setOnInsert: { unclaimedSince: at } } : {};
      const update = { $set: { revision: before.revision + 1, purchase, reversals }, ...unclaimed };
      try {
        const asRead = { _id: before.id, revision: before.revision } as object;
        const options = { upsert: isFirst, writeConcern: DURABLE as never, maxTimeMS: OPERATION_TIMEOUT_MS };
        const result = await payments.collection.updateOne(asRead, update as object, options);
        return result.matchedCount + result.upsertedCount === 1;
      } catch (error) {
        if (isFirst && isDuplicateKey(error)) return false;
        throw error;
      }
    },

    /** Removes a page of the oldest checkouts started before a time. @returns number of checkouts */
    removeCheckouts: (before: Date): Promise<number> => removeSome(checkouts, { at: { $lt: before } }, REMOVED_PAGE, { at: 1 }),

    /** Removes a page of the oldest payments that have been unclaimed since before a time. @returns number of payments */
    removeUnclaimed: (before: Date): Promise<number> =>
      removeSome(payments, { unclaimedSince: { $lt: before } }, REMOVED_PAGE, { unclaimedSince: 1 }),
  };
};
