import { createHash, randomUUID } from "node:crypto";
import { CONFLICT_ATTEMPTS, invalidRequest, LIMITS, unavailable, workflowNotFound } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { hasPendingChange, keepApproved, nothingApproved } from "./approval";
import { appIssuesWithin, publishedBy } from "./definition/app-settings";
import type { WithinCap } from "./cap/cap";
import { approvalsOf, changedMembers, checkSwitches } from "./changes";
import { checkNoCredentials } from "./definition/credentials";
import { changedSince, requireFound, foundAt, notApproved } from "./definition/errors";
import { namedBy } from "./definition/named-media";
import { checkSettings, checkSize, derive } from "./definition/settings";
import type { OwnWorkflow, WorkflowStore } from "./definition/storage";
import { inProduction, newest, type Settings, type Workflow } from "./definition/workflow";
import type { FolderStore } from "./folders/folders";
import type { Allowance, InlineThumbnails } from "./pictures/inline-thumbnails";
import { createInsertion, pauseMs } from "./insertion";
import type { Pictures } from "./definition/pictures";
import type { VersionStore } from "./definition/storage";

export interface Creation extends Allowance {
  ownerId: string;
  settings: Settings;
  /** The owner's limit on saved workflows; undefined if there is none. */
  maxWorkflows: number | undefined;
  /** Idempotency key of this creation; empty if there is none. */
  reference: string;
  /** True for an API key, which can't change settings that need a session. */
  byKey?: boolean;
  /** The person who creates it, if the owner is an organization. */
  authorId?: string | undefined;
  /** True if the caller can't run the workflow. */
  withoutRun?: boolean;
}

export interface Update extends Allowance {
  slug: string;
  ownerId: string;
  ifRevision: number | undefined;
  changes: Partial<Settings>;
  maxWorkflows: number | undefined;
  byKey?: boolean;
  /** The person who updates it, if the owner is an organization. */
  authorId?: string | undefined;
  withoutRun?: boolean;
}

/** Identifies the graph to approve. */
export interface Approval {
  slug: string;
  ownerId: string;
  ifRevision?: number | undefined;
}

export interface Saving {
  /** @throws DomainError WORKFLOW_NOT_FOUND if this reference's workflow was deleted */
  create(creation: Creation): Promise<Workflow>;
  update(update: Update): Promise<Workflow>;
  /** Approves the graph of normal runs for apps, hooks and schedules. @throws DomainError WORKFLOW_NOT_FOUND, PRECONDITION_FAILED */
  approve(approval: Approval): Promise<void>;
  move(which: OwnWorkflow, folderId: string | null): Promise<Workflow>;
  /** @throws DomainError WORKFLOW_CAP_REACHED if the owner has reached the limit */
  checkCap(ownerId: string, max: number | undefined): Promise<void>;
  earlierCreated(reference: string, ownerId: string): Promise<Workflow | undefined>;
}

export interface SavingDeps {
  store: WorkflowStore;
  folders: Pick<FolderStore, "exists">;
  withinCap: WithinCap;
  withinTemplates: WithinCap;
  pictures: Pictures;
  inlineThumbnails: InlineThumbnails;
  /** Published versions by creationId and number. */
  versions: Pick<VersionStore, "get" | "keepDraft">;
}

/** The texts that count towards a workflow's size. */
const TEXTS = ["nodesJson", "edgesJson", "viewportJson", "coverJson", "testsJson"] as const;
const MAX_REFERENCE_CHARS = 255;

/** Unique per creation. Attempts with equal references have equal ids, so that they create one workflow. */
export const creationIdOf = (ownerId: string, reference: string): string =>
  reference === "" ? randomUUID() : createHash("sha256").update(`${ownerId}\n${reference}`).digest("base64url");

/** The first revision of a workflow. It is higher than any revision of a deleted workflow with the same slug. */
const firstRevision = (createdAt: Date): number => createdAt.getTime();

export const createSaving = (deps: SavingDeps): Saving => {
  const { store, folders, withinCap, withinTemplates, pictures, inlineThumbnails, versions } = deps;
  const insert = createInsertion(store);
  const requireFolder = async (folderId: string | null | undefined, ownerId: string): Promise<void> => {
    if (folderId === null || folderId === undefined || (await folders.exists(folderId, ownerId))) return;
    throw invalidRequest([{ path: "folderId", message: "is not one of your folders" }]);
  };

  /** Runs `requireFolder` before a change. A missing workflow is reported before a missing folder. */
  const requireFolderFor = (slug: string, ownerId: string, folderId: string | null | undefined): Promise<void> =>
    requireFolder(folderId, ownerId).catch(async (error: unknown) => {
      requireFound(await store.owned(slug, ownerId));
      throw error;
    });

  /** Undoes the move if the folder was removed concurrently. */
  const settleFolder = async (workflow: Workflow): Promise<Workflow> => {
    const { folderId, createdBy, slug } = workflow;
    if (folderId === null || (await folders.exists(folderId, createdBy))) return workflow;
    await store.leaveFolder(folderId, createdBy, new Date(), slug);
    return requireFound(await store.owned(slug, createdBy));
  };

  const checkPictures = (changes: Partial<Settings>, current: Workflow | undefined): void => {
    const issues = pictures.issues(changes, current);
    if (issues.length > 0) throw invalidRequest(issues);
  };

  const checkApp = (next: Settings, current: Workflow | undefined, unapproved: boolean): void => {
    const issues = appIssuesWithin(next, current, pictures);
    if (issues.length > 0) throw invalidRequest(issues);
    if (unapproved && next.app?.published) throw notApproved("apps");
  };

  /** Public graphs need an approved account. If a version is published, the draft isn't public. */
  const checkPublishing = (next: Workflow, { changes, unapproved }: Pick<Update, "changes" | "unapproved">): void => {
    if (unapproved && next.isTemplate && (changes.isTemplate === true || newest(next) === 0)) throw notApproved();
  };

  /** Other users read a template's version in production, or its draft if no version is published. */
  const checkReadable = async (current: Workflow, next: Workflow): Promise<void> => {
    const isDraftShown = newest(next) === 0;
    if (!next.isTemplate || (current.isTemplate && (!isDraftShown || next.nodesJson === current.nodesJson))) return;
    const shownGraph = isDraftShown ? next : await versions.get(next.creationId, inProduction(next));
    if (shownGraph) checkNoCredentials(shownGraph);
  };

  /** Deletes a new thumbnail's file, unless the workflow now uses it. */
  const dropUnset = async (workflow: Workflow, thumbnail: string | null): Promise<void> => {
    const stored = await store.created(workflow.creationId, workflow.createdBy);
    if (stored?.thumbnail !== thumbnail) await inlineThumbnails.drop(workflow, thumbnail);
  };

  const updateOnce = async (update: Update): Promise<Workflow | undefined> => {
    const { slug, ownerId, authorId = ownerId, ifRevision, changes, maxWorkflows, unapproved, byKey } = update;
    const current = requireFound(await store.owned(slug, ownerId));
    if (ifRevision !== undefined && current.revision !== ifRevision) throw changedSince();
    if (byKey) checkSwitches(changes, current);
    const members = changedMembers(current, changes);
    if (Object.keys(members).length === 0) return current;
    // An API key can't change the app.
    if (members.app) members.app = byKey ? current.app! : publishedBy(members.app, authorId);
    if (TEXTS.some((text) => members[text] !== undefined)) checkSize({ ...current, ...members });
    checkPictures(changes, current);
    const next: Workflow = { ...current, ...members, revision: current.revision + 1, updatedAt: new Date() };
    checkPublishing(next, { changes, unapproved });
    if (changes.app) checkApp(next, current, unapproved);
    await checkReadable(current, next);
    const approvals = approvalsOf(current, next, update);
    Object.assign(next, approvals);
    await keepApproved(versions, current, approvals);
    const isPicture = next.thumbnail !== current.thumbnail;
    if (isPicture) next.thumbnailRef = await inlineThumbnails.keep(current, next.thumbnail, update);
    const { creationId } = current;
    const counts = current.isTemplate && !next.isTemplate;
    const becomesTemplate = !current.isTemplate && next.isTemplate;
    const { revision, updatedAt, thumbnailRef } = next;
    const ref = isPicture ? { thumbnailRef } : {};
    const write = (): Promise<boolean> => store.replace(current, { ...members, ...ref, revision, updatedAt, ...approvals });
    const isWritten = await withinCap({ ownerId, creationId, max: counts ? maxWorkflows : undefined }, () =>
      withinTemplates({ ownerId, creationId, max: becomesTemplate ? LIMITS.templates : undefined }, write),
    ).catch(async (error: unknown) => {
      if (isPicture) await dropUnset(current, next.thumbnail);
      throw error;
    });
    if (isPicture) await (isWritten ? inlineThumbnails.drop(current, current.thumbnail) : dropUnset(current, next.thumbnail));
    return isWritten ? next : undefined;
  };

  return {
    create: async ({ ownerId, settings, maxWorkflows, reference, unapproved, mediaQuota, byKey, authorId, withoutRun }) => {
      checkSettings(settings);
      if (byKey) checkSwitches(settings, {});
      checkSize(settings);
      checkPictures(settings, undefined);
      checkApp(settings, undefined, unapproved);
      if (reference.length > MAX_REFERENCE_CHARS) throw invalidRequest([{ path: "reference", message: "is too long" }]);
      const creationId = creationIdOf(ownerId, reference);
      const existing = reference === "" ? undefined : await store.created(creationId, ownerId);
      if (existing) return settleFolder(existing);
      if (reference !== "" && (await store.wasRemoved(creationId))) throw workflowNotFound();
      if (unapproved && settings.isTemplate) throw notApproved();
      if (settings.isTemplate) checkNoCredentials(settings);
      const derived = derive(settings.nodesJson, settings.edgesJson);
      await requireFolder(settings.folderId, ownerId);
      const now = new Date();
      const owned = { creationId, createdBy: ownerId };
      const workflow = {
        ...settings,
        app: settings.app ? publishedBy(settings.app, authorId ?? ownerId) : null,
        ...derived,
        mediaNames: namedBy(settings),
        ...owned,
        ...(authorId === undefined ? {} : { authorId }),
        thumbnailRef: await inlineThumbnails.keep(owned, settings.thumbnail, { unapproved, mediaQuota }),
        revision: firstRevision(now),
        ...(withoutRun ? nothingApproved(firstRevision(now)) : {}),
        createdAt: now,
        updatedAt: now,
      };
      const { isTemplate } = settings;
      const stored = await withinCap({ ownerId, creationId, max: isTemplate ? undefined : maxWorkflows }, () =>
        withinTemplates({ ownerId, creationId, max: isTemplate ? LIMITS.templates : undefined }, () => insert(workflow)),
      ).catch(async (error: unknown) => {
        // A crashed attempt at the same creation may have stored the workflow.
        if (!(await store.created(creationId, ownerId))) await inlineThumbnails.drop(owned, settings.thumbnail);
        throw error;
      });
      return settleFolder(stored);
    },
    update: async (update) => {
      checkSettings(update.changes);
      await requireFolderFor(update.slug, update.ownerId, update.changes.folderId);
      const updated = await retryOnConflict(CONFLICT_ATTEMPTS.workflow, () => updateOnce(update), pauseMs);
      if (!updated) throw unavailable("the workflow is being changed by too many at once");
      return update.changes.folderId ? settleFolder(updated) : updated;
    },
    approve: async ({ slug, ownerId, ifRevision }) => {
      const isApproved = await retryOnConflict(CONFLICT_ATTEMPTS.workflow, async () => {
        const current = requireFound(await store.owned(slug, ownerId));
        if (ifRevision !== undefined && current.revision !== ifRevision) throw changedSince();
        return !hasPendingChange(current) || (await store.approve(current)) || undefined;
      });
      if (!isApproved) throw unavailable("the workflow is being changed by too many at once");
    },
    move: async (which, folderId) => {
      await requireFolderFor(which.slug, which.ownerId, folderId);
      const moved = await store.move(which, folderId, new Date());
      return settleFolder(await foundAt(moved, () => store.owned(which.slug, which.ownerId)));
    },
    checkCap: (ownerId, max) => withinCap({ ownerId, creationId: randomUUID(), max }, () => Promise.resolve()),
    earlierCreated: (reference, ownerId) => store.created(creationIdOf(ownerId, reference), ownerId),
  };
};
