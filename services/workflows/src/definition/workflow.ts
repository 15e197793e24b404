/** The workflow model: its members, its settings, and the data derived from its graph. */

import { member, PRODUCTION } from "@nodeloom/kernel";
import type { App } from "../apps/app";

/** A saved workflow. Its graph and pictures are the JSON texts that were sent, byte for byte. */
export interface Workflow {
  slug: string;
  /** Unguessable and unique. Distinguishes this workflow from a later one with the same slug. */
  creationId: string;
  name: string;
  description: string;
  tags: string[];
  isTemplate: boolean;
  hidden: boolean;
  archived: boolean;
  publicPlayground: boolean;
  /** Offered to the owner's agents as a tool. Absent in old rows. */
  mcp?: boolean;
  /** Its public page; null or absent for none. */
  app?: App | null;
  /** Days for which its owner's runs are kept; null or absent for the installation's. */
  retentionDays?: number | null;
  /** JSON array of its tests. Empty or absent for none. */
  testsJson?: string;
  folderId: string | null;
  thumbnail: string | null;
  /** Empty for none. */
  coverJson: string;
  nodesJson: string;
  edgesJson: string;
  viewportJson: string;
  /** The owner: a person or an organization. */
  createdBy: string;
  /** The person who created it; absent if that is the owner. */
  authorId?: string;
  /** Starts at the creation time in milliseconds and increases with every change. */
  revision: number;
  /** Derived from the graph on save. */
  generators: GeneratorUse[];
  /** JSON array of the input fields; derived. */
  fieldsJson: string;
  /** JSON object of the fields' saved values; derived. */
  valuesJson: string;
  /** JSON array of the result's member names; derived. Absent in old rows. */
  resultsJson?: string;
  createdAt: Date;
  updatedAt: Date;
  /** Equal for equal graphs; derived. */
  graphDigest: string;
  /** Ids and keys of files in the graph and the pictures; derived. */
  mediaNames: string[];
  /** Secrets that its HTTP nodes send; derived. Absent in old rows. */
  secretNames?: string[];
  /** The thumbnail's form in lists: its URL, or the file key of a stored data URL; empty until that is stored. */
  thumbnailRef: string | null;
  published?: Published | null;
  /** Aliases that were set, by name. Absent in old rows. */
  aliases?: Readonly<Record<string, Alias>>;
  /** The graph for apps, hooks and schedules while a change to it is pending; else null or absent. */
  approved?: Approved | null;
  /** The approved draft while a change to it is pending, for nodes that refer to the workflow's draft; else null or absent. */
  approvedDraft?: Approved | null;
  /** Set if an administrator removed the template from lists. */
  takedown?: Takedown | null;
  /** Set if an administrator features the template. */
  featured?: boolean;
  /** Its name in bundles, with the state that the last import left. */
  bundle?: Bundled;
}

export interface Bundled {
  name: string;
  /** Hash of the workflow's file in the bundle. */
  source: string;
  /** Digest of the content that the import left: a different content was edited since. */
  content: string;
}

export interface Published {
  version: number;
  /** The draft revision that was published. It identifies the version's graph. */
  revision: number;
  graphDigest: string;
  generators: GeneratorUse[];
  /** Absent in old rows. */
  pinnedModels?: PinnedModels;
}

/** A published version under a name. A caller who can run the workflow has chosen it. */
export interface Alias extends Pick<Published, "version" | "revision" | "pinnedModels"> {
  updatedAt: Date;
  /** The person. */
  updatedBy: string;
  /** Only for `production`: lists of workflows show it. */
  generators?: GeneratorUse[];
  /** It only moves to versions that passed the workflow's tests. */
  requireTests?: boolean;
}

/** A graph approved by a caller who could run the workflow. */
export interface Approved {
  /** A published version; 0 for the draft at the revision. If that draft isn't stored, nothing is approved. */
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

/** The data of a generator node that estimates need. */
export interface GeneratorUse {
  nodeId: string;
  model: string;
  inputsJson: string;
  items: number;
}

/** Members that a client can set. */
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
export type Derived = Pick<Workflow, "generators" | "fieldsJson" | "valuesJson" | "resultsJson" | "graphDigest" | "secretNames">;

/** A workflow in lists, without its graph. */
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

/** The members in which a workflow shows files to everyone. */
export type ShownFiles = Pick<
  Workflow,
  "creationId" | "published" | "thumbnail" | "thumbnailRef" | "coverJson" | "app" | "fieldsJson" | "valuesJson"
>;

export interface SecretUse {
  slug: string;
  name: string;
  secretNames: string[];
}

/** A workflow that names models of a request. */
export interface ModelUse {
  ownerId: string;
  slug: string;
  name: string;
  models: string[];
}

export type SchemaPart = Pick<Workflow, "name" | "description" | "fieldsJson" | "valuesJson" | "generators">;

/** A workflow as agents see it. */
export type Tool = Pick<Workflow, "slug" | "name" | "description" | "fieldsJson" | "resultsJson">;

/** A published version: immutable. */
export interface Version {
  /** The workflow's. */
  creationId: string;
  version: number;
  note: string;
  /** The publisher's idempotency key; empty for none. */
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
  /** Its publisher could not run the workflow. */
  withoutRun?: boolean;
  /** Digest of the tests that it passed last; empty or absent for none. */
  passedTests?: string;
}

export type VersionHead = Pick<Version, "pinnedModels" | "version" | "note" | "createdAt" | "createdBy" | "name" | "description">;

/** Number of the newest published version; 0 for none. */
export const newest = ({ published }: Pick<Workflow, "published">): number => published?.version ?? 0;

export const aliasOf = ({ aliases = {} }: Pick<Workflow, "aliases">, name: string): Alias | undefined => member(aliases, name);

/** Number of the version that runs use and that other users see; 0 for the draft. */
export const inProduction = (workflow: Pick<Workflow, "published" | "aliases">): number =>
  aliasOf(workflow, PRODUCTION)?.version ?? newest(workflow);
