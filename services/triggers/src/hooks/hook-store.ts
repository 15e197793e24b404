import { insertOnce } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { documents, type TakenPlace } from "../schema";

/** An address that starts a workflow. */
export interface HookRecord {
  _id: string;
  userId: string;
  /** Slot among the owner's hooks. It is unique by owner, which bounds their number. */
  slot: number;
  workflowSlug: string;
  /** Alias for its runs; absent or empty for `production`. */
  alias?: string;
  /** The key that created it; null for a session. */
  keyId: string | null;
  /** Person who created it. Missing on older rows. */
  personId?: string;
  /** Hexadecimal SHA-256 of the secret in the address. */
  secretHash: string;
  /** First characters of the secret. */
  start: string;
  expression: string;
  maxMillicredits: number;
  /** Null if no signature is required. */
  signatureHeader: string | null;
  /** Null: each delivery starts a run. */
  deliveryIdHeader: string | null;
  createdAt: Date;
}

const hookSchema = documents<HookRecord>("hooks");
hookSchema.index({ userId: 1, slot: 1 }, { unique: true });
hookSchema.index({ secretHash: 1 }, { unique: true });

export type HookStore = ReturnType<typeof createHookStore>;

export const createHookStore = (connection: Connection) => {
  const hooks = connection.model("Hook", hookSchema);
  return {
    /** Slots that an owner's hooks occupy, with their workflows. */
    taken: (userId: string): Promise<TakenPlace[]> => hooks.find({ userId }, { slot: 1, workflowSlug: 1 }).lean<TakenPlace[]>().exec(),

    /** @returns false if the slot was taken since */
    insert: (record: HookRecord): Promise<boolean> => insertOnce(hooks.collection.insertOne(record as never)),

    findByHash: (secretHash: string): Promise<HookRecord | null> => hooks.findOne({ secretHash }).lean<HookRecord>().exec(),

    /** Oldest first. @param workflowSlug undefined: of all workflows */
    list: (userId: string, workflowSlug: string | undefined): Promise<HookRecord[]> =>
      hooks
        .find({ userId, ...(workflowSlug === undefined ? {} : { workflowSlug }) })
        .sort({ createdAt: 1, _id: 1 })
        .lean<HookRecord[]>()
        .exec(),

    /** @returns the removed row */
    remove: (userId: string, workflowSlug: string, id: string): Promise<HookRecord | null> =>
      hooks.findOneAndDelete({ _id: id, userId, workflowSlug }).lean<HookRecord>().exec(),
  };
};
