import { createErasure, removeSome, untilNone, type Erase } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { capsOf } from "./cap/cap";
import type { WorkflowStore } from "./definition/storage";
import type { Workflows } from "./workflows";

/** Workflows removed per call, with their versions. */
const WORKFLOWS_PAGE = 50;
const PAGE = 500;

export interface ErasureDeps {
  /** A connection that has the models. */
  connection: Connection;
  store: Pick<WorkflowStore, "slugsOf" | "forgetCreations">;
  workflows: Pick<Workflows, "remove">;
}

/** Erases an account's workflows. Slugs stay reserved and keep only the owner's id. */
export const createEraseWorkflows = ({ connection, store, workflows }: ErasureDeps): Erase => {
  const { Folder, Owner } = connection.models;
  const removeWorkflows = async (ownerId: string): Promise<number> => {
    const slugs = await store.slugsOf(ownerId, WORKFLOWS_PAGE);
    for (const slug of slugs) await workflows.remove({ slug, ownerId });
    return slugs.length + (await store.forgetCreations(ownerId));
  };

  return createErasure<"workflows">((ownerId) => ({
    workflows: async () => untilNone(await removeWorkflows(ownerId)),
    folders: async () => untilNone(await removeSome(Folder as never, { ownerId }, PAGE)),
    owners: async () => untilNone(await removeSome(Owner as never, { _id: { $in: capsOf(ownerId) } }, PAGE)),
  }));
};
