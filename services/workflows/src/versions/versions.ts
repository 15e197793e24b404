/** versions/: what was published of a workflow, which never changes again. */

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
import { changedSince, found, notApproved } from "../definition/errors";
import { newest, type PinnedModels, type Published, type Version, type VersionHead, type Workflow } from "../definition/workflow";
import type { Update } from "../saving";
import type { VersionStore, WorkflowStore } from "../definition/storage";

/** Published versions of workflows: immutable, numbered from 1 without gaps. */
export interface Versions {
  /** @throws DomainError WORKFLOW_NOT_FOUND, PRECONDITION_FAILED, ACCOUNT_NOT_APPROVED or INVALID_REQUEST */
  publish(publication: Publication): Promise<Version>;
  /** Newest first. @throws DomainError WORKFLOW_NOT_FOUND */
  list(slug: string, ownerId: string, limit: number, before: number): Promise<VersionHead[]>;
  /** @throws DomainError WORKFLOW_NOT_FOUND or VERSION_NOT_FOUND */
  get(slug: string, ownerId: string, version: number): Promise<Version>;
  /** Puts a version's graph into the draft. @throws DomainError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND or PRECONDITION_FAILED */
  restore(restoration: Restoration): Promise<Workflow>;
}

export interface Publication {
  slug: string;
  ownerId: string;
  /** The person, where the owner is an organization. */
  authorId?: string | undefined;
  note: string;
  /** The owner's name of this publication; the same name gives the same version. Empty: none. */
  reference: string;
  unapproved: boolean;
  /** What tasks become in the version, by name (`auto:image`); those that the graph does not name are left out. None: tasks stay open. */
  pinnedModels?: PinnedModels | undefined;
  /** Only this revision of the draft is published. */
  ifRevision?: number | undefined;
  /** The publisher can't run the workflow. */
  withoutRun?: boolean;
}

export interface Restoration {
  slug: string;
  ownerId: string;
  version: number;
  /** Only this revision of the draft is overwritten. */
  ifRevision?: number | undefined;
  /** The caller can't run the workflow. */
  withoutRun?: boolean;
}

export interface VersionsDeps {
  store: Pick<WorkflowStore, "owned" | "setPublished" | "approveDraft">;
  versions: VersionStore;
  update(update: Update): Promise<Workflow>;
}

const MAX_NOTE = LIMITS.noteChars;

const publishedOf = ({ version, revision, graphDigest, generators, pinnedModels = {} }: Version): Published => ({
  pinnedModels,
  version,
  revision,
  graphDigest,
  generators,
});

/** @throws DomainError WORKFLOW_INVALID for a task that became no model */
const pinsOf = ({ nodesJson, edgesJson }: Workflow, models: PinnedModels | undefined): PinnedModels => {
  if (models === undefined) return {};
  const tasks = modelNames(readGraph(nodesJson, edgesJson)).filter((name) => taskOf(name) !== undefined);
  const open = tasks.filter((name) => !Object.hasOwn(models, name));
  if (open.length === 0) return Object.fromEntries(tasks.map((name) => [name, models[name]!]));
  const issues = open.map((name) => ({ nodeId: null, message: `no model for ${name} is ready now, so that it can't be pinned` }));
  throw new DomainError("invalid", "WORKFLOW_INVALID", issues.map(({ message }) => message).join("; "), { issues });
};

/** The draft as the next version. */
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

/** Whether a draft's graph differs from its newest published version. */
export const isChanged = ({ published, graphDigest }: Workflow): boolean => Boolean(published) && published!.graphDigest !== graphDigest;

export const createVersions = ({ store, versions, update }: VersionsDeps): Versions => {
  const owned = async (slug: string, ownerId: string): Promise<Workflow> => {
    return found(await store.owned(slug, ownerId));
  };

  const published = async (slug: string, ownerId: string, version: number): Promise<Version> => {
    const workflow = await owned(slug, ownerId);
    // A number above the newest may be stored already by a publication that is under way or died.
    const stored = version >= 1 && version <= newest(workflow) ? await versions.get(workflow.creationId, version) : undefined;
    if (!stored) throw versionNotFound();
    return stored;
  };

  /**
   * Stores the next version, then lets the workflow name it. A publisher that finds the number taken finishes what the
   * other began, who may have died, and goes on with the next number. Undefined: try again.
   */
  const publishOnce = async (publication: Publication): Promise<Version | undefined> => {
    const { slug, ownerId, reference, unapproved, ifRevision } = publication;
    const draft = await owned(slug, ownerId);
    if (unapproved && draft.isTemplate) throw notApproved();
    const known = reference === "" ? undefined : await versions.referenced(draft.creationId, reference);
    if (known && known.version <= newest(draft)) return known;
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
    // Deleted meanwhile.
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
