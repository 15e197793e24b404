import { invalidRequest, isLonger, LIMITS, workflowNotFound } from "@nodeloom/kernel";
import type { VersionStore } from "./definition/storage";
import type { Takedown } from "./definition/workflow";
import type { WorkflowStore } from "./definition/storage";

/** Operations on workflows of all owners, for administrators and for file removal. */
export interface Templates {
  /** Removes a template from lists, or restores it. @throws DomainError WORKFLOW_NOT_FOUND */
  moderate(slug: string, listed: boolean, reason: string): Promise<{ before: Takedown | null; after: Takedown | null; featured: boolean }>;
  /** Features a template, or stops that. @throws DomainError WORKFLOW_NOT_FOUND */
  feature(slug: string, featured: boolean): Promise<{ before: boolean; takedown: Takedown | null }>;
  /** Hides an owner's workflows from other users during a suspension. */
  setOwnerSuspended(ownerId: string, suspended: boolean, userRevision: number): Promise<void>;
  /** Returns the file ids and keys that a workflow, version or cover refers to. */
  named(names: readonly string[]): Promise<string[]>;
}

export interface TemplatesDeps {
  store: Pick<WorkflowStore, "moderate" | "feature" | "setOwnerSuspended" | "naming">;
  versions: Pick<VersionStore, "naming">;
}

/** An id and a key per file of a lookup. */
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
