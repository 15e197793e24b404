/** The workflow model: members, settings, and data derived from the graph. */

import { member, PRODUCTION } from "@nodeloom/kernel";
import type { App } from "./app";
import type { Canary, EndedCanary } from "./canary";

/** A saved workflow. Its graph and pictures are stored as the JSON texts that were sent, byte for byte. */
export interface Workflow {
  slug: string;
  /** Unguessable and unique. It distinguishes the workflow from a later one with the same slug. */
  creationId: string;
  name: string;
  description: string;
  tags: string[];
  isTemplate: boolean;
  hidden: boolean;
  archived: boolean;
  publicPlayground: boolean;
  /** True if the owner's agents get the workflow as a tool. Absent in old rows. */
  mcp?: boolean;
  /** The public page; null or absent if there is none. */
  app?: App | null;
  /** Days for which the owner's runs are kept; null or absent for the installation's default. */
  retentionDays?: number | null;
  /** JSON array of the tests. Empty or absent if there are none. */
  testsJson?: string;
  folderId: string | null;
  thumbnail: string | null;
  /** Empty if there is no cover. */
  coverJson: string;
  nodesJson: string;
  edgesJson: string;
  viewportJson: string;
  /** The owner, a person or an organization. */
  createdBy: string;
  /** The person who created the workflow; absent if it is the owner. */
  authorId?: string;
  /** Starts at the creation time in milliseconds and is incremented by every change. */
  revision: number;
  /** Derived from the graph when it is saved. */
  generators: GeneratorUse[];
  /** JSON array of the input fields. Derived. */
  fieldsJson: string;
  /** JSON object of the fields' saved values. Derived. */
  valuesJson: string;
  /** JSON array of the result's member names. Derived. Absent in old rows. */
  resultsJson?: string;
  createdAt: Date;
  updatedAt: Date;
  /** Digest of the graph. Derived. */
  graphDigest: string;
  /** Ids and keys of files in the graph and the pictures. Derived. */
  mediaNames: string[];
  /** Secrets that the HTTP nodes send. Derived. Absent in old rows. */
  secretNames?: string[];
  /** The thumbnail in its form for lists: a URL, or the file key of a stored data URL. Empty until the data URL is stored. */
  thumbnailRef: string | null;
  published?: PublishedVersion | null;
  /** Aliases that are set, by name. Absent in old rows. */
  aliases?: Readonly<Record<string, Alias>>;
  /** The graph for apps, hooks and schedules while a change to it is pending; otherwise null or absent. */
  approved?: ApprovedGraph | null;
  /** The approved draft while a change to it is pending, for nodes that refer to the workflow's draft; otherwise null or absent. */
  approvedDraft?: ApprovedGraph | null;
  takedown?: Takedown | null;
  featured?: boolean;
  /** The workflow's name in bundles, and its state after the last import. */
  bundle?: BundleOrigin;
}

export interface BundleOrigin {
  name: string;
  /** Hash of the workflow's file in the bundle. */
  source: string;
  /** Digest of the content after the import. A different digest means that the content was edited since. */
  content: string;
  /** True if the bundle had tests, so that they are part of the content. */
  tests?: boolean;
}

export interface PublishedVersion {
  version: number;
  /** The published revision of the draft. It identifies the version's graph. */
  revision: number;
  graphDigest: string;
  generators: GeneratorUse[];
  pinnedModels?: PinnedModels;
}

/** A name for a published version. A caller who can run the workflow has chosen the version. */
export interface Alias extends Pick<PublishedVersion, "version" | "revision" | "pinnedModels"> {
  updatedAt: Date;
  updatedBy: string;
  /** Only for `production`, because lists of workflows show it. */
  generators?: GeneratorUse[];
  /** True if the alias can move only to versions that passed the workflow's tests. */
  requireTests?: boolean;
  /** The version that gets a share of the owner's runs. */
  canary?: Canary;
  /** The last canary that was promoted or rolled back. */
  lastCanary?: EndedCanary;
}

/** A graph approved by a caller who could run the workflow. */
export interface ApprovedGraph {
  /** Number of a published version; 0 for the draft at `revision`. If that draft isn't stored, nothing is approved. */
  version: number;
  revision: number;
  graphDigest: string;
  pinnedModels?: PinnedModels;
}

/** Models chosen for a version's tasks (`auto:image`) when it was published, by task name. */
export type PinnedModels = Readonly<Record<string, string>>;

export interface Takedown {
  reason: string;
  at: Date;
}

/** Data about a generator node that estimates need. */
export interface GeneratorUse {
  nodeId: string;
  model: string;
  inputsJson: string;
  items: number;
}

/** Members that clients can set. */
export type Settings = Pick<
  Workflow,
  | "name"
  | "description"
  | "tags"
  | "isTemplate"
  | "hidden"
  | "archived"
  | "publicPlayground"
  | "mcp"
  | "app"
  | "retentionDays"
  | "testsJson"
  | "folderId"
  | "thumbnail"
  | "coverJson"
  | "nodesJson"
  | "edgesJson"
  | "viewportJson"
>;

/** Members computed from the graph. */
export type DerivedMembers = Pick<Workflow, "generators" | "fieldsJson" | "valuesJson" | "resultsJson" | "graphDigest" | "secretNames">;

/** A workflow as lists show it, without its graph. */
export type Summary = Pick<
  Workflow,
  | "slug"
  | "revision"
  | "name"
  | "description"
  | "tags"
  | "isTemplate"
  | "hidden"
  | "archived"
  | "folderId"
  | "coverJson"
  | "createdBy"
  | "authorId"
  | "generators"
  | "updatedAt"
  | "published"
  | "aliases"
  | "thumbnailRef"
  | "featured"
>;

/** Members in which a workflow shows files to everyone. */
export type ShownFiles = Pick<
  Workflow,
  "creationId" | "published" | "thumbnail" | "thumbnailRef" | "coverJson" | "app" | "fieldsJson" | "valuesJson"
>;

export interface SecretUse {
  slug: string;
  name: string;
  secretNames: string[];
}

/** A workflow that names one of the requested models. */
export interface ModelUse {
  ownerId: string;
  slug: string;
  name: string;
  models: string[];
}

export type SchemaPart = Pick<Workflow, "name" | "description" | "fieldsJson" | "valuesJson" | "generators">;

/** A workflow as agents get it. */
export type Tool = Pick<Workflow, "slug" | "name" | "description" | "fieldsJson" | "resultsJson">;

/** A published version. It never changes. */
export interface Version {
  creationId: string;
  version: number;
  note: string;
  /** The publisher's idempotency key; empty if there is none. */
  reference: string;
  createdBy: string;
  createdAt: Date;
  /** The published revision of the draft. */
  revision: number;
  name: string;
  description: string;
  nodesJson: string;
  edgesJson: string;
  viewportJson: string;
  generators: GeneratorUse[];
  fieldsJson: string;
  valuesJson: string;
  resultsJson?: string;
  graphDigest: string;
  mediaNames: string[];
  pinnedModels?: PinnedModels;
  /** True if the publisher couldn't run the workflow. */
  withoutRun?: boolean;
  /** Digest of the tests that the version passed last; empty or absent if there are none. */
  passedTests?: string;
}

export type VersionHead = Pick<Version, "pinnedModels" | "version" | "note" | "createdAt" | "createdBy" | "name" | "description">;

/** Number of the newest published version; 0 if there is none. */
export const newest = ({ published }: Pick<Workflow, "published">): number => published?.version ?? 0;

export const aliasOf = ({ aliases = {} }: Pick<Workflow, "aliases">, name: string): Alias | undefined => member(aliases, name);

/** Number of the version that runs use and that other users see; 0 for the draft. */
export const inProduction = (workflow: Pick<Workflow, "published" | "aliases">): number =>
  aliasOf(workflow, PRODUCTION)?.version ?? newest(workflow);
