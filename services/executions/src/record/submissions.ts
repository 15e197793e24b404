import { Schema, type Connection } from "mongoose";
import { TIMING } from "../contract/timing";
import { DURABLE, insertOnce } from "./write";

const KEPT_SECONDS = 30 * 86_400;

export interface SubmissionRecord {
  _id: string;
  requestId: string | null;
  handle: Record<string, string> | null;
  at: Date;
}
const submissionSchema = new Schema<SubmissionRecord>(
  { _id: String, requestId: String, handle: Schema.Types.Mixed, at: Date },
  { collection: "submissions", versionKey: false, minimize: false },
);
submissionSchema.index({ at: 1 }, { expireAfterSeconds: KEPT_SECONDS });

/** What was sent to providers that can't recognise a repetition. */
export const createSubmissionStore = async (connection: Connection) => {
  const submissions = connection.model("Submission", submissionSchema);
  await submissions.createIndexes();
  return {
    /** Claims a submission before it is sent. Returns what is known of an earlier claim. */
    claimSubmission: async (key: string): Promise<{ claimed: true } | ({ claimed: false } & Omit<SubmissionRecord, "_id">)> => {
      const claim = submissions.collection.insertOne({ _id: key, requestId: null, handle: null, at: new Date() } as never, {
        writeConcern: DURABLE,
      });
      if (await insertOnce(claim)) return { claimed: true };
      const earlier = await submissions.findOne({ _id: key }).lean<SubmissionRecord>().exec();
      return { claimed: false, requestId: earlier?.requestId ?? null, handle: earlier?.handle ?? null, at: earlier?.at ?? new Date() };
    },
    recordSubmission: async (key: string, requestId: string, handle: Record<string, string> | null): Promise<void> => {
      await submissions.updateOne({ _id: key }, { $set: { requestId, handle } }).exec();
    },
    /** Notes of a claimed submission that its outcome will never be known. */
    loseSubmission: async (key: string): Promise<void> => {
      await submissions.updateOne({ _id: key, requestId: null }, { $set: { at: new Date(Date.now() - TIMING.submitLost) } }).exec();
    },
    /** Takes a claim back after a submission that certainly was not sent. */
    releaseSubmission: async (key: string): Promise<void> => {
      await submissions.deleteOne({ _id: key, requestId: null }).exec();
    },
  };
};
