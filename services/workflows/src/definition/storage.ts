import type { ListPosition } from "@nodeloom/platform";
import type { App } from "./app";
import type {
  Alias,
  ApprovedGraph,
  BundleOrigin,
  ModelUse,
  PinnedModels,
  PublishedVersion,
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
/** A schema and the data that select its version. */
export type SchemaRow = SchemaPart & Pick<Workflow, "createdBy" | "creationId" | "published" | "aliases" | "approved" | "approvedDraft">;

/** The draft as a tool, and the data that decide whether a version replaces it. */
export type ToolRow = Tool & Pick<Workflow, "creationId" | "published" | "aliases">;

export type AppRow = SchemaRow & Pick<Workflow, "createdAt"> & { slug: string; app: App };

/** Filters of a list. Empty texts match everything. */
export interface ListFilter {
  query: string;
  tag: string;
  /** The folder of the caller's own workflows; null for the root level, undefined for all. */
  folderId: string | null | undefined;
  /** True to exclude templates of others. */
  own: boolean;
  after: ListPosition | undefined;
}

/** Selects an owner's workflow, optionally at one revision. */
export interface OwnWorkflow {
  slug: string;
  ownerId: string;
  ifRevision?: number | undefined;
}

/** A workflow without its graph, as import plans compare it. */
export type BundledHead = Pick<
  Workflow,
  | "slug"
  | "createdBy"
  | "creationId"
  | "revision"
  | "name"
  | "description"
  | "tags"
  | "graphDigest"
  | "published"
  | "aliases"
  | "bundle"
  | "testsJson"
>;

export interface WorkflowStore {
  /** @returns false if the slug is taken or the creation is already stored */
  insert(workflow: Workflow): Promise<boolean>;
  /** Reuses the slug of a workflow that the same owner deleted. @returns false if there is no such slug */
  reclaim(workflow: Workflow): Promise<boolean>;
  /** Returns slugs that match an anchored pattern. For a deleted workflow, the value is its owner, who alone can reuse the slug. */
  usedSlugs(pattern: RegExp): Promise<Map<string, string | undefined>>;
  /** Returns the workflow if it is the user's own or a template. */
  visible(slug: string, userId: string): Promise<Workflow | undefined>;
  /** Returns the workflow if the user can run it: visible workflows, and public playgrounds (whose graph stays hidden from others). */
  runnable(slug: string, userId: string): Promise<Workflow | undefined>;
  runnableHead(slug: string, userId: string): Promise<WorkflowHead | undefined>;
  runnableSchema(slug: string, userId: string): Promise<SchemaRow | undefined>;
  publicSchema(slug: string): Promise<SchemaRow | undefined>;
  /** Returns an owner's tool with a slug, or the owner's tools after a slug. */
  tools(ownerId: string, which: { after: string; slug: string }, limit: number): Promise<ToolRow[]>;
  app(slug: string): Promise<AppRow | undefined>;
  /** Published apps of an owner, newest first. */
  apps(ownerId: string, limit: number): Promise<AppRow[]>;
  /** Published apps that allow an origin, newest first. */
  appsOfOrigin(origin: string, limit: number): Promise<AppRow[]>;
  owned(slug: string, ownerId: string): Promise<Workflow | undefined>;
  created(creationId: string, ownerId: string): Promise<Workflow | undefined>;
  /** Returns an owner's workflows with these names in bundles or with these slugs. */
  bundled(ownerId: string, names: readonly string[]): Promise<BundledHead[]>;
  setBundle(which: Pick<Workflow, "slug" | "createdBy" | "creationId">, bundle: BundleOrigin): Promise<void>;
  /** Returns whether the workflow of this creation was deleted. */
  wasRemoved(creationId: string): Promise<boolean>;
  /** Lists own workflows, newest first. @param limit 0 for all */
  ownSummaries(ownerId: string, filter: ListFilter, limit: number): AsyncIterable<readonly Summary[]>;
  othersTemplates(userId: string, filter: ListFilter, limit: number): AsyncIterable<readonly Summary[]>;
  thumbnails(slugs: readonly string[]): Promise<Map<string, string | null>>;
  /** Stores the thumbnail in its form for lists, unless the workflow has changed. */
  setThumbnailRef(slug: string, revision: number, ref: string | null): Promise<void>;
  /** Sets the newest version and its approval, if the newest version hasn't changed since it was read. */
  setPublished(head: Workflow, published: PublishedVersion, approved: ApprovedGraph | null): Promise<void>;
  /**
   * Sets an alias (or removes it, if undefined), if the workflow and the alias are unchanged. If `production` is removed, the graph of
   * normal runs is approved.
   */
  setAlias(head: Workflow, name: string, alias: Alias | undefined): Promise<boolean>;
  /** Approves a draft, if it hasn't changed. */
  approveDraft(head: Workflow): Promise<void>;
  /** Approves the graph of normal runs and the draft, if neither has changed. */
  approve(head: Workflow): Promise<boolean>;
  /** Removes a template from lists, or restores it. @returns the previous state; undefined if the template doesn't exist */
  moderate(slug: string, takedown: Takedown | null): Promise<{ before: Takedown | null; featured: boolean } | undefined>;
  /** Features a template, or stops featuring it. @returns the previous state; undefined if the template doesn't exist */
  feature(slug: string, featured: boolean): Promise<{ before: boolean; takedown: Takedown | null } | undefined>;
  /** Marks an owner's workflows as suspended or not, unless a later revision of the user is already applied. */
  setOwnerSuspended(ownerId: string, suspended: boolean, userRevision: number): Promise<void>;
  /** Changes members of a workflow, if its revision, newest version and version in production haven't changed. */
  replace(head: Workflow, members: Partial<Workflow>): Promise<boolean>;
  move(which: OwnWorkflow, folderId: string | null, at: Date): Promise<Workflow | undefined>;
  leaveFolder(folderId: string, ownerId: string, at: Date, slug?: string): Promise<void>;
  /** Deletes a workflow. The slug stays reserved for its owner. @returns the creationId */
  remove(which: OwnWorkflow): Promise<string | undefined>;
  /** Marks a removal as complete. */
  endRemoval(creationId: string): Promise<void>;
  /** Returns creationIds of deleted workflows that may still have versions. */
  unfinishedRemovals(limit: number): Promise<string[]>;
  slugsOf(ownerId: string, limit: number): Promise<string[]>;
  /** Removes the creationIds from an owner's deleted workflows. @returns the number of changed workflows */
  forgetCreations(ownerId: string): Promise<number>;
  /** Returns an owner's workflows whose drafts send secrets, newest first. */
  secretUses(ownerId: string, limit: number): Promise<SecretUse[]>;
  /** Returns workflows of all accounts whose draft or newest version names one of the models, sorted by owner and slug. */
  modelUses(models: readonly string[], afterOwner: string, limit: number): Promise<ModelUse[]>;
  /** Returns creationIds of the owner's templates, or of the other workflows. */
  creationIds(ownerId: string, isTemplate: boolean, limit: number): Promise<string[]>;
  /** Returns the names that workflows refer to. The result can contain names that aren't in `names`. */
  naming(names: readonly string[]): Promise<string[]>;
  /** Returns an owner's workflows that others can see: listed templates, public playgrounds and published apps. */
  shownBy(ownerId: string): Promise<ShownFiles[]>;
}

/** Identifies a version's content. Versions of one revision have the same graph but can have different pinned models. */
export interface VersionIdentity {
  revision: number;
  pinnedModels: PinnedModels;
}

export interface VersionStore {
  /** @returns false if the number is taken */
  insert(version: Version): Promise<boolean>;
  /** Stores a draft with the versions and removes earlier drafts, except those in `others`; see `storedNumber`. */
  keepDraft(draft: Version, others: readonly number[]): Promise<void>;
  get(creationId: string, version: number): Promise<Version | undefined>;
  /** Returns inputs and result of a version, without its graph. */
  interfaceOf(creationId: string, version: number): Promise<Pick<Version, "fieldsJson" | "resultsJson"> | undefined>;
  /** Returns the identity of a version, without its graph. */
  identity(creationId: string, version: number): Promise<VersionIdentity | undefined>;
  referenced(creationId: string, reference: string): Promise<Version | undefined>;
  list(creationId: string, limit: number, before: number): Promise<VersionHead[]>;
  /** Records the tests that a version passed last. @param tests digest of the tests; empty for none */
  notePassed(creationId: string, version: number, tests: string): Promise<void>;
  removeAll(creationId: string): Promise<void>;
  /** Returns the names that versions refer to. The result can contain names that aren't in `names`. */
  naming(names: readonly string[]): Promise<string[]>;
  /** Returns the fields of the versions that exist. */
  fieldsOf(versions: readonly { creationId: string; version: number }[]): Promise<Pick<Version, "fieldsJson" | "valuesJson">[]>;
}
