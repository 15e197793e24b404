import type { ListPosition } from "@nodeloom/platform";
import type { App } from "../apps/app";
import type {
  Alias,
  Approved,
  Bundled,
  ModelUse,
  PinnedModels,
  Published,
  SchemaPart,
  SecretUse,
  ShownFiles,
  Summary,
  Takedown,
  Tool,
  Version,
  VersionHead,
  Workflow,
} from "./workflow";

export type WorkflowHead = Pick<
  Workflow,
  "name" | "revision" | "createdBy" | "creationId" | "published" | "aliases" | "approved" | "approvedDraft" | "isTemplate" | "retentionDays"
>;
/** A schema with the data that selects its version. */
export type SchemaRow = SchemaPart & Pick<Workflow, "createdBy" | "creationId" | "published" | "aliases" | "approved" | "approvedDraft">;

/** The draft as a tool, with the data that decides if a version replaces it. */
export type ToolRow = Tool & Pick<Workflow, "creationId" | "published" | "aliases">;

/** A published app's workflow data. */
export type AppRow = SchemaRow & Pick<Workflow, "createdAt"> & { slug: string; app: App };

/** Filters of a list; empty texts match everything. */
export interface ListFilter {
  query: string;
  tag: string;
  /** The caller's own workflows in a folder, or at the root level (null). */
  folderId: string | null | undefined;
  /** Exclude templates of others. */
  own: boolean;
  after: ListPosition | undefined;
}

/** An owner's workflow, optionally at one revision. */
export interface OwnWorkflow {
  slug: string;
  ownerId: string;
  ifRevision?: number | undefined;
}

/** A workflow without its graph, as plans of imports compare it. */
export type BundledHead = Pick<
  Workflow,
  "slug" | "createdBy" | "creationId" | "revision" | "name" | "description" | "tags" | "graphDigest" | "published" | "aliases" | "bundle"
>;

export interface WorkflowStore {
  /** @returns false if the slug is taken, or the creation is already stored */
  insert(workflow: Workflow): Promise<boolean>;
  /** Reuses the slug of a workflow that the same owner deleted. @returns false if there is none */
  reclaim(workflow: Workflow): Promise<boolean>;
  /** Slugs that match an anchored pattern. Those of deleted workflows include the owner, who alone can reuse them. */
  taken(pattern: RegExp): Promise<Map<string, string | undefined>>;
  /** The user's own workflows, and all templates. */
  visible(slug: string, userId: string): Promise<Workflow | undefined>;
  /** Workflows that the user can run: visible ones, and public playgrounds (their graph stays hidden from others). */
  runnable(slug: string, userId: string): Promise<Workflow | undefined>;
  runnableHead(slug: string, userId: string): Promise<WorkflowHead | undefined>;
  runnableSchema(slug: string, userId: string): Promise<SchemaRow | undefined>;
  publicSchema(slug: string): Promise<SchemaRow | undefined>;
  /** An owner's tools: one by slug, or those after a slug. */
  tools(ownerId: string, which: { after: string; slug: string }, limit: number): Promise<ToolRow[]>;
  app(slug: string): Promise<AppRow | undefined>;
  /** Published apps of an owner, newest first. */
  apps(ownerId: string, limit: number): Promise<AppRow[]>;
  /** Published apps that allow an origin, newest first. */
  appsOfOrigin(origin: string, limit: number): Promise<AppRow[]>;
  owned(slug: string, ownerId: string): Promise<Workflow | undefined>;
  created(creationId: string, ownerId: string): Promise<Workflow | undefined>;
  /** An owner's workflows with these names in bundles, or with these slugs. */
  bundled(ownerId: string, names: readonly string[]): Promise<BundledHead[]>;
  setBundle(which: Pick<Workflow, "slug" | "createdBy" | "creationId">, bundle: Bundled): Promise<void>;
  /** True if the workflow of this creation was deleted. */
  wasRemoved(creationId: string): Promise<boolean>;
  /** Newest first; at most `limit`, 0 for all. */
  ownSummaries(ownerId: string, filter: ListFilter, limit: number): AsyncIterable<readonly Summary[]>;
  othersTemplates(userId: string, filter: ListFilter, limit: number): AsyncIterable<readonly Summary[]>;
  thumbnails(slugs: readonly string[]): Promise<Map<string, string | null>>;
  /** Stores the thumbnail's list form, unless the workflow has changed. */
  setThumbnailRef(slug: string, revision: number, ref: string | null): Promise<void>;
  /** Sets the newest version and its approval, if the workflow's newest version is unchanged. */
  setPublished(read: Workflow, published: Published, approved: Approved | null): Promise<void>;
  /** Sets an alias, or removes it, if the workflow and the alias are unchanged. Without `production`, what runs then is approved. */
  setAlias(read: Workflow, name: string, alias: Alias | undefined): Promise<boolean>;
  /** Approves a draft, if it is unchanged. */
  approveDraft(read: Workflow): Promise<void>;
  /** Approves the graph of normal runs, and the draft, if both are unchanged. */
  approve(read: Workflow): Promise<boolean>;
  /** Removes a template from lists, or restores it. @returns the previous state; undefined if there is no such template */
  moderate(slug: string, takedown: Takedown | null): Promise<{ before: Takedown | null; featured: boolean } | undefined>;
  /** Features a template, or stops that. @returns the previous state; undefined if there is no such template */
  feature(slug: string, featured: boolean): Promise<{ before: boolean; takedown: Takedown | null } | undefined>;
  /** Marks an owner's workflows as suspended or not, unless a later revision of the user was applied. */
  setOwnerSuspended(ownerId: string, suspended: boolean, userRevision: number): Promise<void>;
  /** Changes members of a workflow, if its revision, its newest version and the version in production are unchanged. */
  replace(read: Workflow, members: Partial<Workflow>): Promise<boolean>;
  move(which: OwnWorkflow, folderId: string | null, at: Date): Promise<Workflow | undefined>;
  leaveFolder(folderId: string, ownerId: string, at: Date, slug?: string): Promise<void>;
  /** @returns the creationId. The slug stays reserved for its owner. */
  remove(which: OwnWorkflow): Promise<string | undefined>;
  /** Marks a removal as complete. */
  endRemoval(creationId: string): Promise<void>;
  /** creationIds of removed workflows whose versions may still exist. */
  unfinishedRemovals(limit: number): Promise<string[]>;
  slugsOf(ownerId: string, limit: number): Promise<string[]>;
  /** Removes the creations from an owner's deleted workflows. @returns how many */
  forgetCreations(ownerId: string): Promise<number>;
  /** Workflows of an owner whose drafts send secrets, newest first. */
  secretUses(ownerId: string, limit: number): Promise<SecretUse[]>;
  /** Workflows of all accounts whose draft or newest version names one of the models, sorted by owner and slug. */
  modelUses(models: readonly string[], afterOwner: string, limit: number): Promise<ModelUse[]>;
  /** The owner's templates, or the other workflows. */
  creationIds(ownerId: string, isTemplate: boolean, limit: number): Promise<string[]>;
  /** Names among `names` that workflows refer to. The result can contain further names. */
  naming(names: readonly string[]): Promise<string[]>;
  /** An owner's workflows that others see: listed templates, public playgrounds, published apps. */
  shownBy(ownerId: string): Promise<ShownFiles[]>;
}

/** Versions of one revision have the same graph, but can have different pinned models. */
export interface VersionIdentity {
  revision: number;
  pinnedModels: PinnedModels;
}

export interface VersionStore {
  /** @returns false if the number is taken */
  insert(version: Version): Promise<boolean>;
  /** Stores a draft beside the versions and removes earlier drafts, except for these; see `storedNumber`. */
  keepDraft(draft: Version, others: readonly number[]): Promise<void>;
  get(creationId: string, version: number): Promise<Version | undefined>;
  /** Inputs and result of a version, without its graph. */
  interfaceOf(creationId: string, version: number): Promise<Pick<Version, "fieldsJson" | "resultsJson"> | undefined>;
  /** Identifies a version without its graph. */
  identity(creationId: string, version: number): Promise<VersionIdentity | undefined>;
  referenced(creationId: string, reference: string): Promise<Version | undefined>;
  list(creationId: string, limit: number, before: number): Promise<VersionHead[]>;
  /** Notes which tests a version passed last. @param tests their digest; empty for none */
  notePassed(creationId: string, version: number, tests: string): Promise<void>;
  removeAll(creationId: string): Promise<void>;
  /** Names among `names` that versions refer to. The result can contain further names. */
  naming(names: readonly string[]): Promise<string[]>;
  /** The fields of versions, for those that exist. */
  fieldsOf(versions: readonly { creationId: string; version: number }[]): Promise<Pick<Version, "fieldsJson" | "valuesJson">[]>;
}
