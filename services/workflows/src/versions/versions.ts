/** Published versions, which never change. */

import {
  CONFLICT_ATTEMPTS,
  DomainError,
  invalidRequest,
  isLonger,
  LIMITS,
  modelNames,
  readGraph,
  taskOf,
  unavailable,
  versionNotFound,
  workflowNotFound,
} from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { approvedByPublishing, keepApproved, standingDraft } from "../approval";
import { checkNoCredentials } from "../definition/credentials";
import { changedSince, requireFound, notApproved } from "../definition/errors";
import { newest, type PinnedModels, type PublishedVersion, type Version, type VersionHead, type Workflow } from "../definition/workflow";
import type { Update } from "../saving";
import type { VersionStore, WorkflowStore } from "../definition/storage";

/** Published versions. They never change and are numbered from 1 without gaps. */
export interface Versions {
  /** @throws DomainError WORKFLOW_NOT_FOUND, PRECONDITION_FAILED, ACCOUNT_NOT_APPROVED or INVALID_REQUEST */
  publish(publication: Publication): Promise<Version>;
  /** Lists versions, newest first. @throws DomainError WORKFLOW_NOT_FOUND */
  list(slug: string, ownerId: string, limit: number, before: number): Promise<VersionHead[]>;
  /** @throws DomainError WORKFLOW_NOT_FOUND or VERSION_NOT_FOUND */
  get(slug: string, ownerId: string, version: number): Promise<Version>;
  /** Replaces the draft's graph with a version's graph. @throws DomainError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND or PRECONDITION_FAILED */
  restore(restoration: Restoration): Promise<Workflow>;
}

export interface Publication {
  slug: string;
  ownerId: string;
  /** The person who publishes, if the owner is an organization. */
  authorId?: string | undefined;
  note: string;
  /** Idempotency key of this publication; empty if there is none. */
  reference: string;
  unapproved: boolean;
  /**
   * Models by task name, for tasks such as `auto:image`. Tasks that the graph doesn't name are ignored. If undefined, tasks aren't pinned.
   */
  pinnedModels?: PinnedModels | undefined;
  /** Publishes only if the draft has this revision. */
  ifRevision?: number | undefined;
  /** True if the publisher can't run the workflow. */
  withoutRun?: boolean;
}

export interface Restoration {
  slug: string;
  ownerId: string;
  version: number;
  /** Overwrites the draft only if it has this revision. */
  ifRevision?: number | undefined;
  /** True if the caller can't run the workflow. */
  withoutRun?: boolean;
}

export interface VersionsDeps {
  store: Pick<WorkflowStore, "owned" | "setPublished" | "approveDraft">;
  versions: VersionStore;
  update(update: Update): Promise<Workflow>;
}

const MAX_NOTE = LIMITS.noteChars;

const publishedOf = ({ version, revision, graphDigest, generators, pinnedModels = {} }: Version): PublishedVersion => ({
  pinnedModels,
  version,
  revision,
  graphDigest,
  generators,
});

/** @throws DomainError WORKFLOW_INVALID for a task without a model */
const pinsOf = ({ nodesJson, edgesJson }: Workflow, models: PinnedModels | undefined): PinnedModels => {
  if (models === undefined) return {};
  const tasks = modelNames(readGraph(nodesJson, edgesJson)).filter((name) => taskOf(name) !== undefined);
  const open = tasks.filter((name) => !Object.hasOwn(models, name));
  if (open.length === 0) return Object.fromEntries(tasks.map((name) => [name, models[name]!]));
  const issues = open.map((name) => ({ nodeId: null, message: `no model for ${name} is ready now, so it can't be pinned` }));
  throw new DomainError("invalid", "WORKFLOW_INVALID", issues.map(({ message }) => message).join("; "), { issues });
};

/** Creates the next version from the draft. */
const versionOf = (draft: Workflow, { note, reference, ownerId, authorId = ownerId, pinnedModels, withoutRun }: Publication): Version => {
  const { creationId, revision, name, description, nodesJson, edgesJson, viewportJson } = draft;
  const { generators, fieldsJson, valuesJson, resultsJson, graphDigest, mediaNames } = draft;
  return {
    ...{ creationId, revision, name, description, nodesJson, edgesJson, viewportJson },
    ...{ generators, fieldsJson, valuesJson, graphDigest, mediaNames },
    ...(resultsJson === undefined ? {} : { resultsJson }),
    version: newest(draft) + 1,
    ...{ note, reference },
    pinnedModels: pinsOf(draft, pinnedModels),
    ...(withoutRun ? { withoutRun } : {}),
    createdBy: authorId,
    createdAt: new Date(),
  };
};

/** True if the draft's graph differs from the newest published version. */
export const isChanged = ({ published, graphDigest }: Workflow): boolean => Boolean(published) && published!.graphDigest !== graphDigest;

export const createVersions = ({ store, versions, update }: VersionsDeps): Versions => {
  const owned = async (slug: string, ownerId: string): Promise<Workflow> => {
    return requireFound(await store.owned(slug, ownerId));
  };

  const published = async (slug: string, ownerId: string, version: number): Promise<Version> => {
    const workflow = await owned(slug, ownerId);
    // A higher number can belong to a publication that is in progress or crashed.
    const stored = version >= 1 && version <= newest(workflow) ? await versions.get(workflow.creationId, version) : undefined;
    if (!stored) throw versionNotFound();
    return stored;
  };

  /**
   * Stores the next version, then updates the workflow. If the number is taken, the other publisher may have crashed, so its publication is
   * completed first. @returns undefined to try again with the next number
   */
  const publishOnce = async (publication: Publication): Promise<Version | undefined> => {
    const { slug, ownerId, reference, unapproved, ifRevision } = publication;
    const draft = await owned(slug, ownerId);
    if (unapproved && draft.isTemplate) throw notApproved();
    const existing = reference === "" ? undefined : await versions.referenced(draft.creationId, reference);
    if (existing && existing.version <= newest(draft)) return existing;
    if (ifRevision !== undefined && draft.revision !== ifRevision) throw changedSince();
    if (draft.isTemplate) checkNoCredentials(draft);
    const next = versionOf(draft, publication);
    if (next.version > LIMITS.versions) throw invalidRequest([{ path: "", message: `at most ${LIMITS.versions} versions are allowed` }]);
    const isMine = await versions.insert(next);
    const stored = isMine ? next : await versions.get(draft.creationId, next.version);
    if (!stored) return undefined;
    const published = publishedOf(stored);
    const approved = approvedByPublishing(draft, published, stored);
    await keepApproved(versions, draft, { approved });
    await store.setPublished(draft, published, approved);
    if (!stored.withoutRun && stored.revision === draft.revision && standingDraft(draft)) await store.approveDraft(draft);
    if (!isMine) return undefined;
    const after = await store.owned(slug, ownerId);
    if (after?.creationId === draft.creationId) return next;
    // The workflow was deleted concurrently.
    await versions.removeAll(draft.creationId);
    throw workflowNotFound();
  };

  return {
    publish: async (publication) => {
      if (isLonger(publication.note, MAX_NOTE))
        throw invalidRequest([{ path: "note", message: `must have at most ${MAX_NOTE} characters` }]);
      const version = await retryOnConflict(CONFLICT_ATTEMPTS.publication, () => publishOnce(publication));
      if (!version) throw unavailable("the workflow is being published by too many at once");
      return version;
    },
    list: async (slug, ownerId, limit, before) => {
      if (limit < 1 || limit > LIMITS.pageRows)
        throw invalidRequest([{ path: "limit", message: `must be between 1 and ${LIMITS.pageRows}` }]);
      const workflow = await owned(slug, ownerId);
      const end = newest(workflow) + 1;
      return versions.list(workflow.creationId, limit, before > 0 ? Math.min(before, end) : end);
    },
    get: published,
    restore: async ({ slug, ownerId, version, ifRevision, withoutRun }) => {
      const { nodesJson, edgesJson, viewportJson } = await published(slug, ownerId, version);
      const changes = { nodesJson, edgesJson, viewportJson };
      const allowed = { maxWorkflows: undefined, unapproved: false, mediaQuota: undefined, ...(withoutRun ? { withoutRun } : {}) };
      return update({ slug, ownerId, ifRevision, changes, ...allowed });
    },
  };
};
