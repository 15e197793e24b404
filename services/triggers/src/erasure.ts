import { unlessNotFound } from "@nodeloom/kernel";
import { createErasure, untilNone, type Erase } from "@nodeloom/platform";
import type { Triggers } from "./triggers";

/** Erases an account's triggers: rows, schedules in Temporal, and secrets. */
export const createEraseTriggers = ({ schedules, hooks }: Triggers): Erase => {
  const removeAll = async (ownerId: string, { list, remove }: Triggers["schedules"] | Triggers["hooks"]) => {
    const rows = await list(ownerId);
    for (const { _id, workflowSlug } of rows) await unlessNotFound(remove(ownerId, workflowSlug, _id));
    return untilNone(rows.length);
  };
  return createErasure<"triggers">((ownerId) => ({
    schedules: () => removeAll(ownerId, schedules),
    hooks: () => removeAll(ownerId, hooks),
  }));
};
