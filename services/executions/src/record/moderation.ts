/** What the moderation hook decided: of each thing that it was asked about once. */
import { beyond, DURABLE, insertOnce, removeSome, type ListPosition } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { documents } from "./schema";

/** `unchecked`: the hook was away, and the installation lets pass what can't be checked. */
export type ModerationDecision = "allow" | "refuse" | "unchecked";
/** `input`: what a run is given, or a call is about to be sent. `output`: what a call gave. */
export type ModerationKind = "input" | "output";

export interface ModerationRecord {
  /** As the hook knows it. */
  _id: string;
  userId: string;
  executionId: string;
  workflowSlug: string | null;
  kind: ModerationKind;
  /** Of a call; null for what is known before the run begins. */
  key: string | null;
  nodeId: string | null;
  model: string | null;
  /** SHA-256 of what it is about: of all of it, where that is asked about in parts. */
  digest: string;
  decision: ModerationDecision;
  reason: string | null;
  message: string | null;
  policy: string | null;
  /** How many texts and files the hook was shown. None of them is kept. */
  texts: number;
  files: number;
  /** Hashes of the texts, and of the addresses of the files. */
  seen: string[];
  /** Of an output: what its call cost. */
  costMicroUsd?: number;
  requestId?: string | null;
  at: Date;
}

const decisionSchema = documents<ModerationRecord>("moderation");
// What is known of a run; which of its texts were seen.
decisionSchema.index({ executionId: 1, seen: 1 });
// What was refused, or let through unchecked, and what was kept long enough; of one user, or of all.
decisionSchema.index({ userId: 1, decision: 1, at: -1, _id: -1 });
decisionSchema.index({ decision: 1, at: -1, _id: -1 });

export type ModerationStore = ReturnType<typeof createModerationStore>;

export const createModerationStore = (connection: Connection) => {
  const decisions = connection.model("Moderation", decisionSchema);
  const find = (id: string): Promise<ModerationRecord | null> => decisions.findOne({ _id: id }).lean<ModerationRecord>().exec();
  return {
    find,

    /** Keeps a decision, unless there is one. @returns the one that stands */
    insert: async (record: ModerationRecord): Promise<ModerationRecord> => {
      if (await insertOnce(decisions.collection.insertOne(record as never, { writeConcern: DURABLE }))) return record;
      return (await find(record._id)) ?? record;
    },

    /** The refusal of what a call of a run gave. */
    refusedOutput: (executionId: string, key: string): Promise<ModerationRecord | null> =>
      decisions.findOne({ executionId, key, kind: "output", decision: "refuse" }).lean<ModerationRecord>().exec(),

    /** Those of some hashes whose texts or files were let pass in a run. */
    passed: async (executionId: string, hashes: readonly string[]): Promise<Set<string>> => {
      const found = await decisions
        .find({ executionId, seen: { $in: [...hashes] }, decision: { $ne: "refuse" } }, { seen: 1 })
        .lean<Pick<ModerationRecord, "_id" | "seen">[]>()
        .exec();
      return new Set(found.flatMap(({ seen }) => seen));
    },

    /** The outputs of some runs that the hook let go, by their digests. */
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

    /** What was refused, or let through unchecked, newest first. */
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

    /** Removes decisions that were kept long enough: refusals are kept longer. */
    removeOwned: (userId: string, limit: number): Promise<number> => removeSome(decisions, { userId }, limit),

    removeOld: async (before: { refused: Date; passed: Date }, limit: number): Promise<number> => {
      const removed = await removeSome(decisions, { decision: "refuse", at: { $lt: before.refused } }, limit);
      const left = limit - removed;
      const rest = { decision: { $in: ["allow", "unchecked"] }, at: { $lt: before.passed } };
      return left > 0 ? removed + (await removeSome(decisions, rest, left)) : removed;
    },
  };
};
