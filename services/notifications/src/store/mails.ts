/** Stores emails to send, and emails of the last days, so that no email is sent twice. */
import { DURABLE, insertOnce, removeSome } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { documents } from "./documents";

export const MAIL_KINDS = [
  "passwordReset",
  "verification",
  "invitation",
  "approval",
  "lowCredits",
  "budgetAlert",
  "organizationLeaving",
  "organizationKept",
  "modelRetiring",
  "endpointDisabled",
  "decisionRequest",
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

export type MailEnd = "sent" | "refused" | "given up" | "not wanted" | "too many";

export interface MailRecord {
  /** Identifies the email's subject. */
  _id: string;
  kind: MailKind;
  /** The email as JSON, encrypted if there are keys; empty after the email has ended. */
  content: Buffer;
  /** Id of the key that encrypted the content; empty without encryption. */
  keyId: string;
  /** True if a workflow was started for the email. */
  carried: boolean;
  /** How the email ended; null until then. */
  end: MailEnd | null;
  createdAt: Date;
}

const mailSchema = documents<MailRecord>("mails");
// Finds rows without a workflow. Few rows have none, and only for a short time.
mailSchema.index({ carried: 1, _id: 1 });
// Used to delete old rows.
mailSchema.index({ createdAt: 1 });

export type MailStore = ReturnType<typeof createMailStore>;

export const createMailStore = (connection: Connection) => {
  const mails = connection.model("Mail", mailSchema);
  const changed = async (filter: object, $set: Partial<MailRecord>): Promise<boolean> =>
    (await mails.updateOne(filter, { $set }, { writeConcern: DURABLE })).matchedCount > 0;
  return {
    /** @returns false if an email about the same subject was requested before */
    insert: (record: MailRecord): Promise<boolean> =>
      insertOnce(mails.collection.insertOne(record as never, { writeConcern: DURABLE as never })),

    find: async (id: string): Promise<MailRecord | null> => {
      const document = await mails.findById(id).lean<MailRecord & { content: { buffer: Uint8Array } | Buffer }>().exec();
      if (!document) return null;
      const { content } = document;
      return { ...document, content: Buffer.isBuffer(content) ? content : Buffer.from((content as { buffer: Uint8Array }).buffer) };
    },

    noteCarried: async (id: string): Promise<void> => void (await changed({ _id: id }, { carried: true })),
    /**
     * Returns emails without a workflow, ordered by id.
     * @param after last row of the previous page
     */
    listNotCarried: (limit: number, after: Pick<MailRecord, "_id"> | undefined): Promise<Pick<MailRecord, "_id" | "kind">[]> =>
      mails
        .find({ carried: false, ...(after ? { _id: { $gt: after._id } } : {}) }, { kind: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<Pick<MailRecord, "_id" | "kind">[]>()
        .exec(),

    /**
     * Deletes the content and keeps the row.
     * @returns false if the email had already ended
     */
    end: (id: string, end: MailEnd): Promise<boolean> => changed({ _id: id, end: null }, { end, content: Buffer.alloc(0), carried: true }),

    removeOld: (before: Date, limit: number): Promise<number> => removeSome(mails, { createdAt: { $lt: before } }, limit),
  };
};
