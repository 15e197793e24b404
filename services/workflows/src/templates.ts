import { invalidRequest, isLonger, LIMITS, workflowNotFound } from "@nodeloom/kernel";
import type { VersionStore } from "./definition/storage";
import { namesIn } from "./definition/named-media";
import type { ShownFiles, Takedown } from "./definition/workflow";
import type { WorkflowStore } from "./definition/storage";

/** Operations on workflows of all owners, for administrators and for removing files. */
export interface Templates {
  /** Removes a template from lists, or restores it. @throws DomainError WORKFLOW_NOT_FOUND */
  moderate(slug: string, listed: boolean, reason: string): Promise<{ before: Takedown | null; after: Takedown | null; featured: boolean }>;
  /** Features a template, or stops featuring it. @throws DomainError WORKFLOW_NOT_FOUND */
  feature(slug: string, featured: boolean): Promise<{ before: boolean; takedown: Takedown | null }>;
  /** Hides an owner's workflows from other users during a suspension. */
  setOwnerSuspended(ownerId: string, suspended: boolean, userRevision: number): Promise<void>;
  /** Returns the file ids and keys that a workflow, version or cover refers to. */
  namedFiles(names: readonly string[]): Promise<string[]>;
  /** Returns the file ids and keys among `names` that an owner's templates, playgrounds and apps show to everyone. */
  visibleFiles(names: readonly string[], ownerId: string): Promise<string[]>;
}

export interface TemplatesDeps {
  store: Pick<WorkflowStore, "moderate" | "feature" | "setOwnerSuspended" | "naming" | "shownBy">;
  versions: Pick<VersionStore, "naming" | "fieldsOf">;
}

/** A lookup has an id and a key per file. */
const MAX_NAMES = 2 * LIMITS.mediaIds;

/** @throws DomainError INVALID_REQUEST */
const atMostNames = (names: readonly string[]): Set<string> => {
  if (names.length > MAX_NAMES) throw invalidRequest([{ path: "names", message: `at most ${MAX_NAMES} are allowed` }]);
  return new Set(names);
};

/** Names of files in pictures and fields. For a published workflow, the fields are those of its newest version. */
const shownIn = ({ thumbnail, thumbnailRef, coverJson, app, ...fields }: ShownFiles): string[] => [
  ...namesIn(coverJson, app?.published ? app.cover : "", thumbnail?.startsWith("data:") ? "" : (thumbnail ?? "")),
  ...(thumbnailRef ? [thumbnailRef] : []),
  ...(fields.published ? [] : namesIn(fields.fieldsJson, fields.valuesJson)),
];

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
    const workflow = await store.feature(slug, featured);
    if (!workflow) throw workflowNotFound();
    return workflow;
  },
  setOwnerSuspended: (ownerId, suspended, userRevision) => store.setOwnerSuspended(ownerId, suspended, userRevision),
  namedFiles: async (names) => {
    const askedNames = atMostNames(names);
    const naming = await Promise.all([store.naming(names), versions.naming(names)]);
    return [...new Set(naming.flat().filter((name) => askedNames.has(name)))];
  },
  visibleFiles: async (names, ownerId) => {
    const askedNames = atMostNames(names);
    const workflows = await store.shownBy(ownerId);
    const newest = workflows.flatMap(({ creationId, published }) => (published ? [{ creationId, version: published.version }] : []));
    const fields = newest.length === 0 ? [] : await versions.fieldsOf(newest);
    const shownNames = [...workflows.flatMap(shownIn), ...fields.flatMap(({ fieldsJson, valuesJson }) => namesIn(fieldsJson, valuesJson))];
    return [...new Set(shownNames.filter((name) => askedNames.has(name)))];
  },
});
