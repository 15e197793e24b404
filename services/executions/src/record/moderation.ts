/** Stores decisions of the moderation hook, one for each question. */
import { beyond, DURABLE, insertOnce, removeSome, type ListPosition } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { documents } from "./schema";

/** `unchecked`: the hook was unavailable, and the installation passes unchecked content. */
export type ModerationDecision = "allow" | "refuse" | "unchecked";
/** `input`: inputs of a run or a call. `output`: outputs of a call. */
export type ModerationKind = "input" | "output";

export interface ModerationRecord {
  /** Id that the hook receives. */
  _id: string;
  userId: string;
  executionId: string;
  workflowSlug: string | null;
  kind: ModerationKind;
  /** Key of the call; null for the check before a run. */
  key: string | null;
  nodeId: string | null;
  model: string | null;
  /** SHA-256 of the whole content, even if it was sent in parts. */
  digest: string;
  decision: ModerationDecision;
  reason: string | null;
  message: string | null;
  policy: string | null;
  /** Numbers of texts and files that the hook received. The contents aren't stored. */
  texts: number;
  files: number;
  /** Hashes of the texts and of the files' addresses. */
  seen: string[];
  /** For an output: the cost of its call. */
  costMicroUsd?: number;
  requestId?: string | null;
  at: Date;
}

const decisionSchema = documents<ModerationRecord>("moderation");
// Finds decisions of a run, and checks if one of its texts was seen.
decisionSchema.index({ executionId: 1, seen: 1 });
// Finds refused and unchecked content, and expired decisions, of one user or all users.
decisionSchema.index({ userId: 1, decision: 1, at: -1, _id: -1 });
decisionSchema.index({ decision: 1, at: -1, _id: -1 });

export type ModerationStore = ReturnType<typeof createModerationStore>;

export const createModerationStore = (connection: Connection) => {
  const decisions = connection.model("Moderation", decisionSchema);
  const find = (id: string): Promise<ModerationRecord | null> => decisions.findOne({ _id: id }).lean<ModerationRecord>().exec();
  return {
    find,

    /** Stores a decision unless one exists. @returns the stored decision */
    insert: async (record: ModerationRecord): Promise<ModerationRecord> => {
      if (await insertOnce(decisions.collection.insertOne(record as never, { writeConcern: DURABLE }))) return record;
      return (await find(record._id)) ?? record;
    },

    refusedOutput: (executionId: string, key: string): Promise<ModerationRecord | null> =>
      decisions.findOne({ executionId, key, kind: "output", decision: "refuse" }).lean<ModerationRecord>().exec(),

    /** Returns the hashes of content that passed in a run. */
    passed: async (executionId: string, hashes: readonly string[]): Promise<Set<string>> => {
      const records = await decisions
        .find({ executionId, seen: { $in: [...hashes] }, decision: { $ne: "refuse" } }, { seen: 1 })
        .lean<Pick<ModerationRecord, "_id" | "seen">[]>()
        .exec();
      return new Set(records.flatMap(({ seen }) => seen));
    },

    /** Returns the digests of outputs in these runs that the hook passed. */
    letGo: (
      executionIds: readonly string[],
      digests: readonly string[],
    ): Promise<Pick<ModerationRecord, "executionId" | "digest" | "policy">[]> =>
      decisions
        .find(
          { executionId: { $in: [...executionIds] }, kind: "output", decision: "allow", digest: { $in: [...digests] } },
          { executionId: 1, digest: 1, policy: 1 },
        )
        .lean<ModerationRecord[]>()
        .exec(),

    /** Lists refused and unchecked content, newest first. */
    list: (userId: string | null, limit: number, after: ListPosition | undefined): Promise<ModerationRecord[]> =>
      decisions
        .find(
          { ...(userId === null ? {} : { userId }), decision: { $in: ["refuse", "unchecked"] }, ...beyond("at", after, "$lt") },
          { seen: 0 },
        )
        .sort({ at: -1, _id: -1 })
        .limit(limit)
        .lean<ModerationRecord[]>()
        .exec(),

    /** Deletes expired decisions. Refusals are kept longer. */
    removeOwned: (userId: string, limit: number): Promise<number> => removeSome(decisions, { userId }, limit),

    removeOld: async (before: { rejectedBefore: Date; passedBefore: Date }, limit: number): Promise<number> => {
      const removed = await removeSome(decisions, { decision: "refuse", at: { $lt: before.rejectedBefore } }, limit);
      const remaining = limit - removed;
      const rest = { decision: { $in: ["allow", "unchecked"] }, at: { $lt: before.passedBefore } };
      return remaining > 0 ? removed + (await removeSome(decisions, rest, remaining)) : removed;
    },
  };
};
