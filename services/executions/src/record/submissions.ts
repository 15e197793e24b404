/** What was sent to providers that can't recognise a repetition. */
import { DURABLE, insertOnce, removeSome } from "@nodeloom/platform";
import { RETENTION } from "@nodeloom/kernel";
import type { Connection } from "mongoose";
import { TIMING } from "../run/timing";
import { documents } from "./schema";

export interface SubmissionRecord {
  _id: string;
  /** The process that claimed it. */
  owner: string;
  requestId: string | null;
  handle: Record<string, string> | null;
  at: Date;
  /** It may have been sent, and what came of it will never be known; or it must not be sent any more. */
  lost?: true;
}

const submissionSchema = documents<SubmissionRecord>("submissions");
submissionSchema.index({ at: 1 }, { expireAfterSeconds: RETENTION.submissions.days * 86_400 });

export const createSubmissionStore = (connection: Connection) => {
  const submissions = connection.model("Submission", submissionSchema);
  return {
    /** Claims a submission for a process before it is sent. Returns what is known of an earlier claim, its own included. */
    claim: async (key: string, owner: string): Promise<{ claimed: true } | ({ claimed: false } & Omit<SubmissionRecord, "_id">)> => {
      const record = { _id: key, owner, requestId: null, handle: null, at: new Date() };
      if (await insertOnce(submissions.collection.insertOne(record as never, { writeConcern: DURABLE }))) return { claimed: true };
      const earlier = await submissions.findOne({ _id: key }).lean<SubmissionRecord>().exec();
      return { ...record, ...earlier, claimed: false };
    },
    record: async (key: string, requestId: string, handle: Record<string, string> | null): Promise<void> => {
      await submissions.updateOne({ _id: key }, { $set: { requestId, handle } }).exec();
    },
    /** Notes of a claimed submission that its outcome will never be known, or that it must not be sent any more. */
    lose: async (key: string): Promise<void> => {
      const lost = { lost: true, at: new Date(Date.now() - TIMING.submitLost) } as const;
      await submissions.updateOne({ _id: key, requestId: null }, { $set: lost }).exec();
    },
    removeOld: (before: Date, limit: number): Promise<number> => removeSome(submissions, { at: { $lt: before } }, limit),
    /** Takes a claim back after a submission that certainly was not sent. */
    release: async (key: string): Promise<void> => {
      await submissions.deleteOne({ _id: key, requestId: null }).exec();
    },
  };
};
