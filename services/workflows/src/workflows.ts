import { createHash, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError, invalidRequest, LIMITS, unavailable } from "@nodeloom/kernel";
import type { WithinCap } from "./cap/cap";
import type { FolderStore } from "./folders/folders";
import { namedBy } from "./definition/named-media";
import { isInline, type Pictures } from "./pictures/pictures";
import { checkSettings, checkSize, derive } from "./definition/settings";
import { firstFree, slugOf, variantsOf } from "./definition/slug";
import { collectSummaries } from "./summaries";
import { newest, notApproved, versionNotFound, type VersionStore } from "./versions/versions";
import type { Published, SchemaPart, Settings, Summary, Takedown, Workflow } from "./definition/workflow";

export type WorkflowHead = Pick<Workflow, "name" | "revision" | "createdBy" | "creationId" | "published">;
/** A schema with what tells which version's it is. */
export type SchemaRow = SchemaPart & Pick<Workflow, "createdBy" | "creationId" | "published">;

/** What a list is narrowed to; empty texts narrow nothing. */
export interface ListFilter {
  query: string;
  tag: string;
  /** The caller's own in a folder, or at the root level (null). */
  folderId: string | null | undefined;
  after: ListPosition | undefined;
}

export interface ListPosition {
  slug: string;
  updatedAt: Date;
}

export interface Listing {
  userId: string;
  filter: Omit<ListFilter, "after">;
  /** Rows of a page; 0: everything. */
  limit: number;
  cursor: string;
}

export interface WorkflowStore {
  createIndexes(): Promise<void>;
  /** False when the slug is taken, or the creation is stored already. */
  insert(workflow: Workflow): Promise<boolean>;
  /** Puts a workflow in the place of one that the same owner deleted; false when there is none of the slug. */
  reclaim(workflow: Workflow): Promise<boolean>;
  /** Slugs that match an anchored pattern. Those of deleted workflows come with their owner, who alone may have them again. */
  taken(pattern: RegExp): Promise<Map<string, string | undefined>>;
  /** The user's own, or anyone's template. */
  visible(slug: string, userId: string): Promise<Workflow | undefined>;
  visibleHead(slug: string, userId: string): Promise<WorkflowHead | undefined>;
  visibleSchema(slug: string, userId: string): Promise<SchemaRow | undefined>;
  publicSchema(slug: string): Promise<SchemaRow | undefined>;
  owned(slug: string, ownerId: string): Promise<Workflow | undefined>;
  created(creationId: string, ownerId: string): Promise<Workflow | undefined>;
  /** Newest first; at most `limit`, 0: all. */
  ownSummaries(ownerId: string, filter: ListFilter, limit: number): AsyncIterable<readonly Summary[]>;
  othersTemplates(userId: string, filter: ListFilter, limit: number): AsyncIterable<readonly Summary[]>;
  thumbnails(slugs: readonly string[]): Promise<Map<string, string | null>>;
  /** Notes what lists show of a thumbnail, unless the workflow has changed. */
  setThumbnailRef(slug: string, revision: number, ref: string | null): Promise<void>;
  /** Lets a workflow name its newest version, if it still names the one it was read with. */
  setPublished(read: Workflow, published: Published): Promise<void>;
  /** Takes a template down or lets it back; answers how it was, or undefined when there is none. */
  moderate(slug: string, takedown: Takedown | null): Promise<{ before: Takedown | null } | undefined>;
  /** Writes members of a workflow if it is still at the revision it was read at. */
  replace(read: Workflow, members: Partial<Workflow>): Promise<boolean>;
  move(slug: string, ownerId: string, folderId: string | null, at: Date): Promise<Workflow | undefined>;
  leaveFolder(folderId: string, ownerId: string, at: Date, slug?: string): Promise<void>;
  /** Answers the creationId of what was removed. The slug stays its owner's. */
  remove(slug: string, ownerId: string): Promise<string | undefined>;
  /** Says that nothing of a removed workflow is left. */
  endRemoval(creationId: string): Promise<void>;
  /** creationIds of removed workflows of which something may be left. */
  unfinishedRemovals(limit: number): Promise<string[]>;
  /** Of an owner's templates, or of the other workflows. */
  creationIds(ownerId: string, isTemplate: boolean, limit: number): Promise<string[]>;
  /** Notes the files that workflows of earlier versions name. */
  noteMediaNames(): Promise<void>;
  /** Names that workflows have among some; others of theirs may be in the answer. */
  naming(names: readonly string[]): Promise<string[]>;
}

export interface Creation {
  ownerId: string;
  settings: Settings;
  /** Saved workflows the owner may have; undefined means uncapped. */
  maxWorkflows: number | undefined;
  /** The owner's name of this creation; the same name gives the same workflow. Empty: none. */
  reference: string;
  /** The owner's account awaits approval. */
  unapproved: boolean;
}

export interface Update {
  slug: string;
  ownerId: string;
  ifRevision: number | undefined;
  changes: Partial<Settings>;
  maxWorkflows: number | undefined;
  unapproved: boolean;
}

export interface Definition extends Pick<WorkflowHead, "name" | "revision" | "createdBy"> {
  /** 0: the draft. */
  version: number;
  /** Undefined when the caller holds the current revision. */
  graph: Pick<Workflow, "nodesJson" | "edgesJson"> | undefined;
}

export interface Workflows {
  create(creation: Creation): Promise<Workflow>;
  get(slug: string, userId: string): Promise<Workflow>;
  /** `next` is where to go on; undefined at the end. */
  list(listing: Listing): Promise<{ rows: Summary[]; next: string | undefined }>;
  update(update: Update): Promise<Workflow>;
  move(slug: string, ownerId: string, folderId: string | null): Promise<Workflow>;
  remove(slug: string, ownerId: string): Promise<void>;
  /** @param version a number, `draft`, or empty: the newest version, or the draft while there is none */
  schema(slug: string, userId: string, version: string): Promise<SchemaPart>;
  publicSchema(slug: string): Promise<SchemaPart>;
  /** @param version as of `schema` */
  definition(slug: string, userId: string, knownRevision: number, version: string): Promise<Definition>;
  /** @throws DomainError WORKFLOW_CAP_REACHED when the owner has as many workflows as allowed */
  checkCap(ownerId: string, max: number | undefined): Promise<void>;
  made(reference: string, ownerId: string): Promise<Workflow | undefined>;
  /** Removes what is left of deleted workflows. @returns of how many */
  finishAbandoned(): Promise<number>;
}

export interface WorkflowsDeps {
  store: WorkflowStore;
  versions: VersionStore;
  folders: Pick<FolderStore, "exists">;
  withinCap: WithinCap;
  withinTemplates: WithinCap;
  pictures: Pictures;
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

/** What lists show of a thumbnail that is set; a data URL waits for the first list. */
const thumbnailRefOf = (thumbnail: string | null): string | null => (thumbnail && isInline(thumbnail) ? "" : thumbnail);

/** The members that were sent, with what follows from a changed graph and changed pictures. */
const changedMembers = (current: Workflow, changes: Partial<Settings>): Partial<Workflow> => {
  const sent: Partial<Workflow> = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  if (Object.keys(sent).length === 0) return sent;
  const { nodesJson, edgesJson, thumbnail } = sent;
  const isGraph = nodesJson !== undefined || edgesJson !== undefined;
  const derived = isGraph ? derive(nodesJson ?? current.nodesJson, edgesJson ?? current.edgesJson) : {};
  const isPicture = thumbnail !== undefined && thumbnail !== current.thumbnail;
  const ref = isPicture ? { thumbnailRef: thumbnailRefOf(thumbnail) } : {};
  return { ...sent, ...derived, ...ref, mediaNames: namedBy({ ...current, ...sent }) };
};

const DRAFT = "draft";
const VERSION = /^[1-9]\d{0,8}$/;

/**
 * The version that is meant: 0 for the draft. Others than the owner have the newest version only, and the draft while
 * there is none.
 * @throws DomainError INVALID_REQUEST or VERSION_NOT_FOUND
 */
const chosenVersion = (head: Pick<WorkflowHead, "createdBy" | "published">, userId: string, version: string): number => {
  const latest = newest(head);
  if (version === "") return latest;
  if (version !== DRAFT && !VERSION.test(version))
    throw invalidRequest([{ path: "version", message: `must be a version's number, or ${DRAFT}` }]);
  const chosen = version === DRAFT ? 0 : Number(version);
  const isVisible = head.createdBy === userId ? chosen <= latest : chosen === latest;
  if (!isVisible) throw versionNotFound();
  return chosen;
};

const toCursor = ({ slug, updatedAt }: ListPosition): string => Buffer.from(`${updatedAt.getTime()}/${slug}`).toString("base64url");

const fromCursor = (cursor: string): ListPosition | undefined => {
  if (cursor === "") return undefined;
  const [, at, slug] = /^(\d{1,15})\/([a-z0-9-]{1,200})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (at === undefined || slug === undefined) throw invalidRequest([{ path: "cursor", message: "is not one of this list" }]);
  return { slug, updatedAt: new Date(Number(at)) };
};

async function* nothing(): AsyncIterable<Summary[]> {
  // The source of a list that has no rows of a kind.
}

const REMOVALS_AT_ONCE = 100;

/** Where a workflow's revisions start: whoever holds something of an earlier workflow of the same slug must not take it for this one's. */
const firstRevision = (createdAt: Date): number => createdAt.getTime();

export const createWorkflows = ({ store, versions, folders, withinCap, withinTemplates, pictures }: WorkflowsDeps): Workflows => {
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
    let isOwnersAgain = false;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const candidate = { ...workflow, slug };
      if (await (isOwnersAgain ? store.reclaim(candidate) : store.insert(candidate))) return candidate;
      const twin = await store.created(workflow.creationId, workflow.createdBy);
      if (twin) return twin;
      if (attempt > 1) await pause();
      const known = await store.taken(variantsOf(base));
      const mine = new Set([...known].filter(([, formerOwner]) => formerOwner === workflow.createdBy).map(([own]) => own));
      slug = firstFree(base, new Set([...known.keys()].filter((one) => !mine.has(one))));
      isOwnersAgain = mine.has(slug);
    }
    throw unavailable("too many workflows of this name are being created");
  };

  const checkPictures = (changes: Partial<Settings>, current: Workflow | undefined): void => {
    const issues = pictures.issues(changes, current);
    if (issues.length > 0) throw invalidRequest(issues);
  };

  /** What others run and see at once must be an approved account's; drafts behind a published version are nobody else's. */
  const checkPublishing = (next: Workflow, { changes, unapproved }: Pick<Update, "changes" | "unapproved">): void => {
    if (unapproved && next.isTemplate && (changes.isTemplate === true || newest(next) === 0)) throw notApproved();
  };

  const updateOnce = async ({ slug, ownerId, ifRevision, changes, maxWorkflows, unapproved }: Update): Promise<Workflow | undefined> => {
    const current = found(await store.owned(slug, ownerId));
    if (ifRevision !== undefined && current.revision !== ifRevision)
      throw new DomainError("precondition", "PRECONDITION_FAILED", "the workflow has been changed since it was read");
    const members = changedMembers(current, changes);
    if (Object.keys(members).length === 0) return current;
    checkSize({ ...current, ...members });
    checkPictures(changes, current);
    const next: Workflow = { ...current, ...members, revision: current.revision + 1, updatedAt: new Date() };
    checkPublishing(next, { changes, unapproved });
    const { creationId } = current;
    const counts = current.isTemplate && !next.isTemplate;
    const becomesTemplate = !current.isTemplate && next.isTemplate;
    const write = (): Promise<boolean> => store.replace(current, { ...members, revision: next.revision, updatedAt: next.updatedAt });
    const isWritten = await withinCap({ ownerId, creationId, max: counts ? maxWorkflows : undefined }, () =>
      withinTemplates({ ownerId, creationId, max: becomesTemplate ? LIMITS.templates : undefined }, write),
    );
    return isWritten ? next : undefined;
  };

  /** The workflow as others than its owner have it: its newest version's graph, and no foreign pictures. */
  const asOthersSee = async (workflow: Workflow): Promise<Workflow> => {
    const { takedown: _, ...rest } = workflow;
    const cover = { coverJson: pictures.safeCover(workflow.coverJson), thumbnail: pictures.safeThumbnail(workflow.thumbnail) };
    const version = newest(workflow);
    if (version === 0) return { ...rest, ...cover };
    const stored = await versions.get(workflow.creationId, version);
    if (!stored) throw versionNotFound();
    const { nodesJson, edgesJson, viewportJson, generators, graphDigest } = stored;
    return { ...rest, ...cover, nodesJson, edgesJson, viewportJson, generators, graphDigest };
  };

  const versionSchema = async (row: SchemaRow, version: number): Promise<SchemaPart> => {
    if (version === 0) return row;
    const stored = await versions.get(row.creationId, version);
    if (!stored) throw versionNotFound();
    const { fieldsJson, valuesJson, generators } = stored;
    return { name: row.name, description: row.description, fieldsJson, valuesJson, generators };
  };

  const finishRemoval = async (creationId: string): Promise<void> => {
    await versions.removeAll(creationId);
    await store.endRemoval(creationId);
  };

  const summaries = async ({ userId, filter, limit, cursor }: Listing): Promise<{ rows: Summary[]; next: string | undefined }> => {
    const narrowing = { ...filter, after: fromCursor(cursor) };
    const most = limit === 0 ? 0 : limit + 1;
    const others = filter.folderId === undefined ? store.othersTemplates(userId, narrowing, most || LIMITS.listedTemplates) : nothing();
    const all = await collectSummaries([store.ownSummaries(userId, narrowing, most), others]);
    if (limit === 0 || all.length <= limit) return { rows: all, next: undefined };
    return { rows: all.slice(0, limit), next: toCursor(all[limit - 1]!) };
  };

  return {
    create: async ({ ownerId, settings, maxWorkflows, reference, unapproved }) => {
      checkSettings(settings);
      checkSize(settings);
      checkPictures(settings, undefined);
      if (reference.length > MAX_REFERENCE_CHARS) throw invalidRequest([{ path: "reference", message: "is too long" }]);
      const creationId = creationIdOf(ownerId, reference);
      const earlier = reference === "" ? undefined : await store.created(creationId, ownerId);
      if (earlier) return settleFolder(earlier);
      if (unapproved && settings.isTemplate) throw notApproved();
      const derived = derive(settings.nodesJson, settings.edgesJson);
      await requireFolder(settings.folderId, ownerId);
      const now = new Date();
      const workflow = {
        ...settings,
        ...derived,
        mediaNames: namedBy(settings),
        thumbnailRef: thumbnailRefOf(settings.thumbnail),
        creationId,
        createdBy: ownerId,
        revision: firstRevision(now),
        createdAt: now,
        updatedAt: now,
      };
      const { isTemplate } = settings;
      const stored = await withinCap({ ownerId, creationId, max: isTemplate ? undefined : maxWorkflows }, () =>
        withinTemplates({ ownerId, creationId, max: isTemplate ? LIMITS.templates : undefined }, () => insert(workflow)),
      );
      return settleFolder(stored);
    },
    get: async (slug, userId) => {
      const workflow = found(await store.visible(slug, userId));
      return workflow.createdBy === userId ? workflow : asOthersSee(workflow);
    },
    list: summaries,
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
      await finishRemoval(found(await store.remove(slug, ownerId)));
    },
    schema: async (slug, userId, version) => {
      const row = found(await store.visibleSchema(slug, userId));
      return versionSchema(row, chosenVersion(row, userId, version));
    },
    publicSchema: async (slug) => {
      const row = found(await store.publicSchema(slug));
      return versionSchema(row, newest(row));
    },
    definition: async (slug, userId, knownRevision, selected) => {
      const head = found(await store.visibleHead(slug, userId));
      const version = chosenVersion(head, userId, selected);
      const { name, createdBy, creationId, published } = head;
      const known = version === 0 ? head.revision : version === published?.version ? published.revision : undefined;
      const revision = known ?? (await versions.revision(creationId, version)) ?? 0;
      if (knownRevision > 0 && revision === knownRevision) return { name, revision, createdBy, version, graph: undefined };
      const graph = version === 0 ? found(await store.visible(slug, userId)) : await versions.get(creationId, version);
      if (!graph) throw versionNotFound();
      // A draft may have changed since its head was read.
      return { name, revision: graph.revision, createdBy, version, graph: { nodesJson: graph.nodesJson, edgesJson: graph.edgesJson } };
    },
    checkCap: (ownerId, max) => withinCap({ ownerId, creationId: randomUUID(), max }, () => Promise.resolve()),
    made: (reference, ownerId) => store.created(creationIdOf(ownerId, reference), ownerId),
    finishAbandoned: async () => {
      const unfinished = await store.unfinishedRemovals(REMOVALS_AT_ONCE);
      for (const creationId of unfinished) await finishRemoval(creationId);
      return unfinished.length;
    },
  };
};
