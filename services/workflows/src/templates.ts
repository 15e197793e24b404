import { invalidRequest, isLonger, LIMITS, workflowNotFound } from "@nodeloom/kernel";
import type { VersionStore } from "./definition/storage";
import type { Takedown } from "./definition/workflow";
import type { WorkflowStore } from "./definition/storage";

/** What is asked about all workflows, whoever owns them: by administrators, and by those who remove files. */
export interface Templates {
  /** Takes a template off everyone's lists, or lets it back. @throws DomainError WORKFLOW_NOT_FOUND */
  moderate(slug: string, listed: boolean, reason: string): Promise<{ before: Takedown | null; after: Takedown | null; featured: boolean }>;
  /** Has a template shown before others, or no more. @throws DomainError WORKFLOW_NOT_FOUND */
  feature(slug: string, featured: boolean): Promise<{ before: boolean; takedown: Takedown | null }>;
  /** Hides what others see of an owner's while the owner is suspended. */
  setOwnerSuspended(ownerId: string, suspended: boolean, userRevision: number): Promise<void>;
  /** Those of some ids and keys of files that a workflow, a version or a picture names. */
  named(names: readonly string[]): Promise<string[]>;
}

export interface TemplatesDeps {
  store: Pick<WorkflowStore, "moderate" | "feature" | "setOwnerSuspended" | "naming">;
  versions: Pick<VersionStore, "naming">;
}

/** An id and a key for each of the files that are looked up at once. */
const MAX_NAMES = 2 * LIMITS.mediaIds;

export const createTemplates = ({ store, versions }: TemplatesDeps): Templates => ({
  moderate: async (slug, listed, reason) => {
    if (isLonger(reason, LIMITS.noteChars))
      throw invalidRequest([{ path: "reason", message: `must have at most ${LIMITS.noteChars} characters` }]);
    const after = listed ? null : { reason, at: new Date() };
    const moderated = await store.moderate(slug, after);
    if (!moderated) throw workflowNotFound();
    return { ...moderated, after };
  },
  feature: async (slug, featured) => {
    const known = await store.feature(slug, featured);
    if (!known) throw workflowNotFound();
    return known;
  },
  setOwnerSuspended: (ownerId, suspended, userRevision) => store.setOwnerSuspended(ownerId, suspended, userRevision),
  named: async (names) => {
    if (names.length > MAX_NAMES) throw invalidRequest([{ path: "names", message: `at most ${MAX_NAMES} are allowed` }]);
    const asked = new Set(names);
    const found = await Promise.all([store.naming(names), versions.naming(names)]);
    return [...new Set(found.flat().filter((name) => asked.has(name)))];
  },
});
