/** Mails that 1.0.0 accepted. Those that it has not sent go to notifications. */
import { DURABLE, removeSome } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { documents } from "./schema";

export interface EarlierMail {
  _id: string;
  kind: string;
  /** Encrypted where the installation has keys for that; empty once it has ended. */
  content: Buffer;
  keyId: string;
  /** A workflow was started for it. */
  carried: boolean;
  /** How it ended; null until then. */
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
      const found = await mails.findById(id).lean<EarlierMail>().exec();
      return found && { ...found, content: Buffer.from((found.content as unknown as { buffer: Uint8Array }).buffer) };
    },

    /** Those that no workflow was started for, oldest first. */
    listNotCarried: (limit: number): Promise<Pick<EarlierMail, "_id">[]> =>
      mails.find({ carried: false }, { _id: 1 }).sort({ createdAt: 1 }).limit(limit).lean<Pick<EarlierMail, "_id">[]>().exec(),

    /** Its content is not kept. */
    end: async (id: string, end: string): Promise<void> => {
      await mails
        .updateOne({ _id: id, end: null }, { $set: { end, content: Buffer.alloc(0), carried: true } }, { writeConcern: DURABLE })
        .exec();
    },

    removeOld: (before: Date, limit: number): Promise<number> => removeSome(mails, { createdAt: { $lt: before } }, limit),
  };
};
