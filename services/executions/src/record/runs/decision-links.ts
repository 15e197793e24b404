/** Links by which approvers decide without an account. A link is stored as long as its run. */
import { DURABLE } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { documents } from "../schema";

export interface DecisionLinkRecord {
  /** SHA-256 of the token. */
  _id: string;
  executionId: string;
  nodeId: string;
  /** Account of the run. */
  ownerId: string;
  address: string;
  /** The approver as a member; empty for an address that belongs to no member. */
  personId: string;
  createdAt: Date;
}

const linkSchema = documents<DecisionLinkRecord>("decisionlinks");
// Removes the links of a run.
linkSchema.index({ executionId: 1 });

export const decisionLinkModel = (connection: Connection) => connection.model("DecisionLink", linkSchema);
export type DecisionLinkModel = ReturnType<typeof decisionLinkModel>;

export type DecisionLinkStore = ReturnType<typeof createDecisionLinkStore>;

export const createDecisionLinkStore = (connection: Connection) => {
  const links = decisionLinkModel(connection);
  return {
    insert: async (link: DecisionLinkRecord): Promise<void> => {
      await links.collection.insertOne(link as never, { writeConcern: DURABLE as never });
    },
    find: (hash: string): Promise<DecisionLinkRecord | null> => links.findById(hash).lean<DecisionLinkRecord>().exec(),
  };
};
