import { createHash, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError, invalidRequest, unavailable } from "@nodeloom/kernel";
import type { WithinCap } from "./cap";
import type { FolderStore } from "./folders";
import { checkSettings, checkSize, derive } from "./settings";
import { firstFree, slugOf, variantsOf } from "./slug";
import { collectSummaries } from "./summaries";
import type { SchemaPart, Settings, Summary, Workflow } from "./workflow";

export type WorkflowHead = Pick<Workflow, "name" | "revision" | "createdBy">;

export interface WorkflowStore {
  createIndexes(): Promise<void>;
  /** False when the slug is taken, or the creation is stored already. */
  insert(workflow: Workflow): Promise<boolean>;
  /** Slugs that match an anchored pattern. */
  slugs(pattern: RegExp): Promise<string[]>;
  /** The user's own, or anyone's template. */
  visible(slug: string, userId: string): Promise<Workflow | undefined>;
  visibleHead(slug: string, userId: string): Promise<WorkflowHead | undefined>;
  visibleSchema(slug: string, userId: string): Promise<SchemaPart | undefined>;
  publicSchema(slug: string): Promise<SchemaPart | undefined>;
  owned(slug: string, ownerId: string): Promise<Workflow | undefined>;
  created(creationId: string, ownerId: string): Promise<Workflow | undefined>;
  ownSummaries(ownerId: string): AsyncIterable<readonly Summary[]>;
  othersTemplates(userId: string): AsyncIterable<readonly Summary[]>;
  /** Writes members of a workflow if it is still at the revision it was read at. */
  replace(read: Workflow, members: Partial<Workflow>): Promise<boolean>;
  move(slug: string, ownerId: string, folderId: string | null, at: Date): Promise<Workflow | undefined>;
  leaveFolder(folderId: string, ownerId: string, at: Date, slug?: string): Promise<void>;
  remove(slug: string, ownerId: string): Promise<boolean>;
  /** creationIds of what counts against the owner's cap. */
  savedCreationIds(ownerId: string, limit: number): Promise<string[]>;
}

export interface Creation {
  ownerId: string;
  settings: Settings;
  /** Saved workflows the owner may have; undefined means uncapped. */
  maxWorkflows: number | undefined;
  /** The owner's name of this creation; the same name gives the same workflow. Empty: none. */
  reference: string;
}

export interface Update {
  slug: string;
  ownerId: string;
  ifRevision: number | undefined;
  changes: Partial<Settings>;
  maxWorkflows: number | undefined;
}

export interface Definition extends WorkflowHead {
  /** Undefined when the caller holds the current revision. */
  graph: Pick<Workflow, "nodesJson" | "edgesJson"> | undefined;
}

export interface Workflows {
  create(creation: Creation): Promise<Workflow>;
  get(slug: string, userId: string): Promise<Workflow>;
  list(userId: string): Promise<Summary[]>;
  update(update: Update): Promise<Workflow>;
  move(slug: string, ownerId: string, folderId: string | null): Promise<Workflow>;
  remove(slug: string, ownerId: string): Promise<void>;
  schema(slug: string, userId: string): Promise<SchemaPart>;
  publicSchema(slug: string): Promise<SchemaPart>;
  definition(slug: string, userId: string, knownRevision: number): Promise<Definition>;
}

export interface WorkflowsDeps {
  store: WorkflowStore;
  folders: Pick<FolderStore, "exists">;
  withinCap: WithinCap;
}

/** Attempts under contention; each failed one means that another succeeded. */
const ATTEMPTS = 200;
const MAX_PAUSE_MS = 20;
const MAX_REFERENCE_CHARS = 255;

const pause = (): Promise<void> => delay(Math.random() * MAX_PAUSE_MS);

const notFound = (): DomainError => new DomainError("not_found", "WORKFLOW_NOT_FOUND", "workflow not found");

const found = <T>(workflow: T | undefined): T => {
  if (workflow === undefined) throw notFound();
  return workflow;
};

/** Unique for every creation; the attempts of one that is named share it, and its uniqueness makes them one workflow. */
const creationIdOf = (ownerId: string, reference: string): string =>
  reference === "" ? randomUUID() : createHash("sha256").update(`${ownerId}\n${reference}`).digest("base64url");

/** The members that were sent, with what follows from a changed graph. */
const changedMembers = (current: Workflow, changes: Partial<Settings>): Partial<Workflow> => {
  const members: Partial<Workflow> = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  if (changes.nodesJson === undefined && changes.edgesJson === undefined) return members;
  return { ...members, ...derive(changes.nodesJson ?? current.nodesJson, changes.edgesJson ?? current.edgesJson) };
};

/** Where a workflow's revisions start: whoever holds something of an earlier workflow of the same slug must not take it for this one's. */
const firstRevision = (createdAt: Date): number => createdAt.getTime();

export const createWorkflows = ({ store, folders, withinCap }: WorkflowsDeps): Workflows => {
  const requireFolder = async (folderId: string | null | undefined, ownerId: string): Promise<void> => {
    if (folderId === null || folderId === undefined || (await folders.exists(folderId, ownerId))) return;
    throw invalidRequest([{ path: "folderId", message: "is not one of your folders" }]);
  };

  /** A folder may have been removed while a workflow was put into it. */
  const settleFolder = async (workflow: Workflow): Promise<Workflow> => {
    const { folderId, createdBy, slug } = workflow;
    if (folderId === null || (await folders.exists(folderId, createdBy))) return workflow;
    await store.leaveFolder(folderId, createdBy, new Date(), slug);
    return found(await store.owned(slug, createdBy));
  };

  const insert = async (workflow: Omit<Workflow, "slug">): Promise<Workflow> => {
    const base = slugOf(workflow.name);
    let slug = base;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const candidate = { ...workflow, slug };
      if (await store.insert(candidate)) return candidate;
      const twin = await store.created(workflow.creationId, workflow.createdBy);
      if (twin) return twin;
      if (attempt > 1) await pause();
      slug = firstFree(base, new Set(await store.slugs(variantsOf(base))));
    }
    throw unavailable("too many workflows of this name are being created");
  };

  const updateOnce = async ({ slug, ownerId, ifRevision, changes, maxWorkflows }: Update): Promise<Workflow | undefined> => {
    const current = found(await store.owned(slug, ownerId));
    if (ifRevision !== undefined && current.revision !== ifRevision)
      throw new DomainError("precondition", "PRECONDITION_FAILED", "the workflow has been changed since it was read");
    const members = changedMembers(current, changes);
    if (Object.keys(members).length === 0) return current;
    checkSize({ ...current, ...members });
    const next: Workflow = { ...current, ...members, revision: current.revision + 1, updatedAt: new Date() };
    const counts = current.isTemplate && !next.isTemplate;
    const slot = { ownerId, creationId: current.creationId, max: counts ? maxWorkflows : undefined };
    const isWritten = await withinCap(slot, () =>
      store.replace(current, { ...members, revision: next.revision, updatedAt: next.updatedAt }),
    );
    return isWritten ? next : undefined;
  };

  return {
    create: async ({ ownerId, settings, maxWorkflows, reference }) => {
      checkSettings(settings);
      checkSize(settings);
      if (reference.length > MAX_REFERENCE_CHARS) throw invalidRequest([{ path: "reference", message: "is too long" }]);
      const creationId = creationIdOf(ownerId, reference);
      const earlier = reference === "" ? undefined : await store.created(creationId, ownerId);
      if (earlier) return settleFolder(earlier);
      const derived = derive(settings.nodesJson, settings.edgesJson);
      await requireFolder(settings.folderId, ownerId);
      const now = new Date();
      const workflow = {
        ...settings,
        ...derived,
        creationId,
        createdBy: ownerId,
        revision: firstRevision(now),
        createdAt: now,
        updatedAt: now,
      };
      const slot = { ownerId, creationId, max: settings.isTemplate ? undefined : maxWorkflows };
      return settleFolder(await withinCap(slot, () => insert(workflow)));
    },
    get: async (slug, userId) => found(await store.visible(slug, userId)),
    list: (userId) => collectSummaries([store.ownSummaries(userId), store.othersTemplates(userId)]),
    update: async (update) => {
      checkSettings(update.changes);
      await requireFolder(update.changes.folderId, update.ownerId);
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const updated = await updateOnce(update);
        if (updated) return update.changes.folderId ? settleFolder(updated) : updated;
        await pause();
      }
      throw unavailable("the workflow is being changed by too many at once");
    },
    move: async (slug, ownerId, folderId) => {
      await requireFolder(folderId, ownerId);
      return settleFolder(found(await store.move(slug, ownerId, folderId, new Date())));
    },
    remove: async (slug, ownerId) => {
      if (!(await store.remove(slug, ownerId))) throw notFound();
    },
    schema: async (slug, userId) => found(await store.visibleSchema(slug, userId)),
    publicSchema: async (slug) => found(await store.publicSchema(slug)),
    definition: async (slug, userId, knownRevision) => {
      const head = knownRevision > 0 ? found(await store.visibleHead(slug, userId)) : undefined;
      if (head?.revision === knownRevision) return { ...head, graph: undefined };
      const { name, revision, createdBy, nodesJson, edgesJson } = found(await store.visible(slug, userId));
      return { name, revision, createdBy, graph: { nodesJson, edgesJson } };
    },
  };
};
