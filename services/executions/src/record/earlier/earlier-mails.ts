/** Stores mails that version 1.0.0 accepted. Unsent mails move to notifications. */
import { DURABLE, removeSome } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { documents } from "../schema";

export interface EarlierMail {
  _id: string;
  kind: string;
  /** Encrypted if the installation has keys; empty once the mail has ended. */
  content: Buffer;
  keyId: string;
  /** True if the mail has a workflow. */
  carried: boolean;
  /** Outcome of the mail; null until it has ended. */
  end: string | null;
  createdAt: Date;
}

const mailSchema = documents<EarlierMail>("mails");
mailSchema.index({ carried: 1, createdAt: 1 });
mailSchema.index({ createdAt: 1 });

export const createEarlierMailStore = (connection: Connection) => {
  const mails = connection.model("Mail", mailSchema);
  return {
    find: async (id: string): Promise<EarlierMail | null> => {
      const mail = await mails.findById(id).lean<EarlierMail>().exec();
      return mail && { ...mail, content: Buffer.from((mail.content as unknown as { buffer: Uint8Array }).buffer) };
    },

    /** Mails without a workflow, oldest first. */
    listNotCarried: (limit: number): Promise<Pick<EarlierMail, "_id">[]> =>
      mails.find({ carried: false }, { _id: 1 }).sort({ createdAt: 1 }).limit(limit).lean<Pick<EarlierMail, "_id">[]>().exec(),

    /** Records the outcome and deletes the content. */
    end: async (id: string, end: string): Promise<void> => {
      await mails
        .updateOne({ _id: id, end: null }, { $set: { end, content: Buffer.alloc(0), carried: true } }, { writeConcern: DURABLE })
        .exec();
    },

    removeOld: (before: Date, limit: number): Promise<number> => removeSome(mails, { createdAt: { $lt: before } }, limit),
  };
};
