import { isDuplicateKey } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import type { Claim, ClaimStore } from "./cap";

interface Row {
  _id: string;
  claims: Claim[];
}

const claim = new Schema<Claim>(
  { token: { type: String, required: true }, creationId: { type: String, required: true }, at: { type: Date, required: true } },
  { _id: false },
);
const rows = new Schema<Row>(
  { _id: String, claims: { type: [claim] } },
  { collection: "owners", versionKey: false, minimize: false, strict: "throw" },
);

/** Saves in progress, one document per owner. */
export const createClaimStore = (connection: Connection): ClaimStore => {
  const model = connection.model<Row>("Owner", rows);
  const push = async (ownerId: string, added: Claim): Promise<Claim[]> => {
    const row = await model
      .findOneAndUpdate({ _id: ownerId }, { $push: { claims: added } }, { upsert: true, returnDocument: "after" })
      .lean<Row>()
      .exec();
    return row?.claims ?? [];
  };
  return {
    add: async (ownerId, added) => {
      try {
        return await push(ownerId, added);
      } catch (error) {
        // Another first claim created the document concurrently.
        if (!isDuplicateKey(error)) throw error;
        return push(ownerId, added);
      }
    },
    remove: async (ownerId, tokens) => {
      await model.updateOne({ _id: ownerId }, { $pull: { claims: { token: { $in: [...tokens] } } } }).exec();
    },
  };
};
