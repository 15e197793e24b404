import { createRemoval, untilNone, type Removal } from "@nodeloom/platform";
import type { CanaryStore } from "./canaries/canary-store";
import { foundAt } from "./definition/errors";
import type { OwnWorkflow } from "./definition/storage";
import { createReading, type Reading, type ReadingDeps } from "./reading";
import { createSaving, type Saving, type SavingDeps } from "./saving";

/** Operations on workflows, including removal. See saving.ts and reading.ts for the others. */
export interface Workflows extends Saving, Reading {
  remove(which: OwnWorkflow): Promise<void>;
  /** Completes interrupted removals, one page per call. */
  removeExpired(cursor: string): Promise<Removal>;
}

export type WorkflowsDeps = SavingDeps & ReadingDeps & { canaries: Pick<CanaryStore, "removeAll"> };

const REMOVALS_AT_ONCE = 100;

export const createWorkflows = (deps: WorkflowsDeps): Workflows => {
  const { store, versions, canaries, inlineThumbnails } = deps;

  const finishRemoval = async (creationId: string): Promise<void> => {
    await versions.removeAll(creationId);
    await canaries.removeAll(creationId);
    await store.endRemoval(creationId);
  };

  return {
    ...createSaving(deps),
    ...createReading(deps),
    remove: async (which) => {
      const workflow = await store.owned(which.slug, which.ownerId);
      await finishRemoval(await foundAt(await store.remove(which), () => store.owned(which.slug, which.ownerId)));
      if (workflow) await inlineThumbnails.drop(workflow, workflow.thumbnail);
    },
    removeExpired: createRemoval({
      deletedWorkflows: async () => {
        const unfinished = await store.unfinishedRemovals(REMOVALS_AT_ONCE);
        for (const creationId of unfinished) await finishRemoval(creationId);
        return untilNone(unfinished.length);
      },
    }),
  };
};
