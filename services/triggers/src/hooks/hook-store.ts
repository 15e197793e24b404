import { insertOnce } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { documents, type TakenPlace } from "../schema";

/** An address that starts a workflow. */
export interface HookRecord {
  _id: string;
  userId: string;
  /** Slot among the owner's hooks. It is unique for the owner, which limits the number of hooks. */
  slot: number;
  workflowSlug: string;
  /** Alias that its runs use; absent or empty for `production`. */
  alias?: string;
  /** Key that created it; null for a session. */
  keyId: string | null;
  /** Person who created it; absent in older rows. */
  personId?: string;
  /** SHA-256 of the secret in the address, in hexadecimal. */
  secretHash: string;
  /** First characters of the secret. */
  start: string;
  expression: string;
  maxMillicredits: number;
  /** Null if no signature is required. */
  signatureHeader: string | null;
  /** Header with the sender's delivery id; null if each delivery starts a run. */
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
    /** Returns the slots that an owner's hooks occupy, with their workflows. */
    usedPlaces: (userId: string): Promise<TakenPlace[]> => hooks.find({ userId }, { slot: 1, workflowSlug: 1 }).lean<TakenPlace[]>().exec(),

    /** @returns false if the slot was taken in the meantime */
    insert: (record: HookRecord): Promise<boolean> => insertOnce(hooks.collection.insertOne(record as never)),

    findByHash: (secretHash: string): Promise<HookRecord | null> => hooks.findOne({ secretHash }).lean<HookRecord>().exec(),

    /** Lists hooks, oldest first. @param workflowSlug undefined for hooks of all workflows */
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
