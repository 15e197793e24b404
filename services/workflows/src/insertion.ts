import { CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { firstFree, slugOf, variantsOf } from "./definition/slug";
import type { WorkflowStore } from "./definition/storage";
import type { Workflow } from "./definition/workflow";

const MAX_PAUSE_MS = 20;

/** Wait before another attempt after a conflict. */
export const pauseMs = (): number => Math.random() * MAX_PAUSE_MS;

/** Stores new workflows under the first free slug of their names. */
export const createInsertion = (store: Pick<WorkflowStore, "usedSlugs" | "insert" | "reclaim" | "created">) => {
  /** Returns the first free slug for a name. Owners can reuse slugs of workflows that they deleted. */
  const freeSlug = async (base: string, ownerId: string): Promise<{ slug: string; isOwnersAgain: boolean }> => {
    const takenSlugs = await store.usedSlugs(variantsOf(base));
    const mine = new Set([...takenSlugs].filter(([, formerOwner]) => formerOwner === ownerId).map(([own]) => own));
    const slug = firstFree(base, new Set([...takenSlugs.keys()].filter((one) => !mine.has(one))));
    return { slug, isOwnersAgain: mine.has(slug) };
  };

  const insert = async (workflow: Omit<Workflow, "slug">): Promise<Workflow> => {
    const base = slugOf(workflow.name);
    const attempt = async (count: number): Promise<Workflow | undefined> => {
      const { slug, isOwnersAgain } = count === 1 ? { slug: base, isOwnersAgain: false } : await freeSlug(base, workflow.createdBy);
      const candidate = { ...workflow, slug };
      if (await (isOwnersAgain ? store.reclaim(candidate) : store.insert(candidate))) return candidate;
      return store.created(workflow.creationId, workflow.createdBy);
    };
    const inserted = await retryOnConflict(CONFLICT_ATTEMPTS.workflow, attempt, (count) => (count === 1 ? 0 : pauseMs()));
    if (!inserted) throw unavailable("too many workflows of this name are being created");
    return inserted;
  };

  return insert;
};
