import type { ListPosition } from "@nodeloom/platform";
import type { App } from "../apps/app";
import type {
  Approved,
  PinnedModels,
  Published,
  SchemaPart,
  SecretUse,
  Summary,
  Takedown,
  Tool,
  Version,
  VersionHead,
  Workflow,
} from "./workflow";

export type WorkflowHead = Pick<
  Workflow,
  "name" | "revision" | "createdBy" | "creationId" | "published" | "approved" | "approvedDraft" | "isTemplate"
>;
/** A schema with what tells which version's it is. */
export type SchemaRow = SchemaPart & Pick<Workflow, "createdBy" | "creationId" | "published" | "approved" | "approvedDraft">;

/** The draft as a tool, with what tells whether a version stands in its place. */
export type ToolRow = Tool & Pick<Workflow, "creationId" | "published">;

/** What a published app has of its workflow. */
export type AppRow = SchemaRow & Pick<Workflow, "createdAt"> & { slug: string; app: App };

/** What a list is narrowed to; empty texts narrow nothing. */
export interface ListFilter {
  query: string;
  tag: string;
  /** The caller's own in a folder, or at the root level (null). */
  folderId: string | null | undefined;
  /** No templates of others. */
  own: boolean;
  after: ListPosition | undefined;
}

/** A workflow of an owner's, at one revision if it is given. */
export interface OwnWorkflow {
  slug: string;
  ownerId: string;
  ifRevision?: number | undefined;
}

/** Where workflows are kept. */
export interface WorkflowStore {
  /** False when the slug is taken, or the creation is stored already. */
  insert(workflow: Workflow): Promise<boolean>;
  /** Puts a workflow in the place of one that the same owner deleted; false when there is none of the slug. */
  reclaim(workflow: Workflow): Promise<boolean>;
  /** Slugs that match an anchored pattern. Those of deleted workflows come with their owner, who alone may have them again. */
  taken(pattern: RegExp): Promise<Map<string, string | undefined>>;
  /** The user's own, or anyone's template. */
  visible(slug: string, userId: string): Promise<Workflow | undefined>;
  /** What the user may run: the visible ones, and public playgrounds, of which others see the schema alone. */
  runnable(slug: string, userId: string): Promise<Workflow | undefined>;
  runnableHead(slug: string, userId: string): Promise<WorkflowHead | undefined>;
  runnableSchema(slug: string, userId: string): Promise<SchemaRow | undefined>;
  publicSchema(slug: string): Promise<SchemaRow | undefined>;
  /** An owner's workflows that agents get, by slug: one, or those after a slug. */
  tools(ownerId: string, which: { after: string; slug: string }, limit: number): Promise<ToolRow[]>;
  /** A published app. */
  app(slug: string): Promise<AppRow | undefined>;
  /** An owner's published apps, the newest first. */
  apps(ownerId: string, limit: number): Promise<AppRow[]>;
  /** Whether a published app names an origin. */
  hasAppOrigin(origin: string): Promise<boolean>;
  owned(slug: string, ownerId: string): Promise<Workflow | undefined>;
  created(creationId: string, ownerId: string): Promise<Workflow | undefined>;
  /** Whether a workflow of this creation was deleted. */
  wasRemoved(creationId: string): Promise<boolean>;
  /** Newest first; at most `limit`, 0: all. */
  ownSummaries(ownerId: string, filter: ListFilter, limit: number): AsyncIterable<readonly Summary[]>;
  othersTemplates(userId: string, filter: ListFilter, limit: number): AsyncIterable<readonly Summary[]>;
  thumbnails(slugs: readonly string[]): Promise<Map<string, string | null>>;
  /** Notes what lists show of a thumbnail, unless the workflow has changed. */
  setThumbnailRef(slug: string, revision: number, ref: string | null): Promise<void>;
  /** Lets a workflow name its newest version, and what is approved beside it, if it still names the one it was read with. */
  setPublished(read: Workflow, published: Published, approved: Approved | null): Promise<void>;
  /** Approves a draft, if it is still the one that was read. */
  approveDraft(read: Workflow): Promise<void>;
  /** Approves what a workflow runs, and its draft, if that is still what it was read with. */
  approve(read: Workflow): Promise<boolean>;
  /** Takes a template down or lets it back; answers how it was, or undefined when there is none. */
  moderate(slug: string, takedown: Takedown | null): Promise<{ before: Takedown | null; featured: boolean } | undefined>;
  /** Has a template shown before others, or no more; answers how it was, or undefined when there is none. */
  feature(slug: string, featured: boolean): Promise<{ before: boolean; takedown: Takedown | null } | undefined>;
  /** Notes on an owner's workflows whether the owner is suspended, where nothing is known of a later revision of the user. */
  setOwnerSuspended(ownerId: string, suspended: boolean, userRevision: number): Promise<void>;
  /** Writes members of a workflow if it is still at the revision, and names the newest version, it was read with. */
  replace(read: Workflow, members: Partial<Workflow>): Promise<boolean>;
  move(which: OwnWorkflow, folderId: string | null, at: Date): Promise<Workflow | undefined>;
  leaveFolder(folderId: string, ownerId: string, at: Date, slug?: string): Promise<void>;
  /** Answers the creationId of what was removed. The slug stays its owner's. */
  remove(which: OwnWorkflow): Promise<string | undefined>;
  /** Says that nothing of a removed workflow is left. */
  endRemoval(creationId: string): Promise<void>;
  /** creationIds of removed workflows of which something may be left. */
  unfinishedRemovals(limit: number): Promise<string[]>;
  /** Some slugs of an owner's workflows. */
  slugsOf(ownerId: string, limit: number): Promise<string[]>;
  /** Forgets which creations an owner's deleted workflows came from. @returns of how many */
  forgetCreations(ownerId: string): Promise<number>;
  /** An owner's workflows whose drafts send secrets, the newest first. */
  secretUses(ownerId: string, limit: number): Promise<SecretUse[]>;
  /** Of an owner's templates, or of the other workflows. */
  creationIds(ownerId: string, isTemplate: boolean, limit: number): Promise<string[]>;
  /** Names that workflows have among some; others of theirs may be in the answer. */
  naming(names: readonly string[]): Promise<string[]>;
}

/** Versions of one revision have the same graph, and may have other pinned models. */
export interface VersionIdentity {
  revision: number;
  pinnedModels: PinnedModels;
}

export interface VersionStore {
  /** False when the number is taken. */
  insert(version: Version): Promise<boolean>;
  /** Keeps a draft beside the versions, in place of earlier ones but these: see `storedNumber`. */
  keepDraft(draft: Version, others: readonly number[]): Promise<void>;
  get(creationId: string, version: number): Promise<Version | undefined>;
  /** What a version takes and gives, without its graph. */
  interfaceOf(creationId: string, version: number): Promise<Pick<Version, "fieldsJson" | "resultsJson"> | undefined>;
  /** What tells a version from others, without its graph. */
  identity(creationId: string, version: number): Promise<VersionIdentity | undefined>;
  referenced(creationId: string, reference: string): Promise<Version | undefined>;
  list(creationId: string, limit: number, before: number): Promise<VersionHead[]>;
  removeAll(creationId: string): Promise<void>;
  /** Names that versions have among some; others of theirs may be in the answer. */
  naming(names: readonly string[]): Promise<string[]>;
}
