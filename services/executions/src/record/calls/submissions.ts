/** Stores submissions to providers that don't recognize repetitions. */
import { DURABLE, insertOnce, removeSome } from "@nodeloom/platform";
import { RETENTION } from "@nodeloom/kernel";
import type { Connection } from "mongoose";
import { TIMING } from "../../run/timing";
import { documents } from "../schema";

export interface SubmissionRecord {
  _id: string;
  /** Id of the process that made the claim. */
  owner: string;
  requestId: string | null;
  handle: Record<string, string> | null;
  at: Date;
  /** Set if its outcome will never be known, or if it must not be sent any more. */
  lost?: true;
}

const submissionSchema = documents<SubmissionRecord>("submissions");
submissionSchema.index({ at: 1 }, { expireAfterSeconds: RETENTION.submissions.days * 86_400 });

export const createSubmissionStore = (connection: Connection) => {
  const submissions = connection.model("Submission", submissionSchema);
  return {
    /** Claims a submission before it is sent. If it is already claimed, even by this process, returns the state of that claim. */
    claim: async (key: string, owner: string): Promise<{ isNew: true } | ({ isNew: false } & Omit<SubmissionRecord, "_id">)> => {
      const record = { _id: key, owner, requestId: null, handle: null, at: new Date() };
      if (await insertOnce(submissions.collection.insertOne(record as never, { writeConcern: DURABLE }))) return { isNew: true };
      const earlier = await submissions.findOne({ _id: key }).lean<SubmissionRecord>().exec();
      return { ...record, ...earlier, isNew: false };
    },
    record: async (key: string, requestId: string, handle: Record<string, string> | null): Promise<void> => {
      await submissions.updateOne({ _id: key }, { $set: { requestId, handle } }).exec();
    },
    /** Records that the outcome of a submission will never be known, or that it must not be sent. */
    lose: async (key: string): Promise<void> => {
      const lostState = { lost: true, at: new Date(Date.now() - TIMING.submitLost) } as const;
      await submissions.updateOne({ _id: key, requestId: null }, { $set: lostState }).exec();
    },
    removeOld: (before: Date, limit: number): Promise<number> => removeSome(submissions, { at: { $lt: before } }, limit),
    /** Removes the claim of a submission that certainly wasn't sent. */
    release: async (key: string): Promise<void> => {
      await submissions.deleteOne({ _id: key, requestId: null }).exec();
    },
  };
};
