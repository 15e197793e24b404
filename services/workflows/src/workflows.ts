import { foundAt } from "./definition/errors";
import type { OwnWorkflow } from "./definition/storage";
import { createReading, type Reading, type ReadingDeps } from "./reading";
import { createSaving, type Saving, type SavingDeps } from "./saving";

/** The use cases of workflows: saving.ts and reading.ts have all but their removal. */
export interface Workflows extends Saving, Reading {
  remove(which: OwnWorkflow): Promise<void>;
  /** Removes what is left of deleted workflows. @returns of how many */
  finishAbandoned(): Promise<number>;
}

export type WorkflowsDeps = SavingDeps & ReadingDeps;

const REMOVALS_AT_ONCE = 100;

export const createWorkflows = (deps: WorkflowsDeps): Workflows => {
  const { store, versions } = deps;

  const finishRemoval = async (creationId: string): Promise<void> => {
    await versions.removeAll(creationId);
    await store.endRemoval(creationId);
  };

  return {
    ...createSaving(deps),
    ...createReading(deps),
    remove: async (which) => {
      await finishRemoval(await foundAt(await store.remove(which), () => store.owned(which.slug, which.ownerId)));
    },
    finishAbandoned: async () => {
      const unfinished = await store.unfinishedRemovals(REMOVALS_AT_ONCE);
      for (const creationId of unfinished) await finishRemoval(creationId);
      return unfinished.length;
    },
  };
};
