/** definition/: what a workflow is, what may be set of it, and what follows from its graph. */

import type { App } from "../apps/app";

/** A saved workflow. Its graph and its pictures are the JSON texts that were sent, byte for byte. */
export interface Workflow {
  slug: string;
  /** Unguessable and unique; tells this workflow from another that later gets the same slug. */
  creationId: string;
  name: string;
  description: string;
  tags: string[];
  isTemplate: boolean;
  hidden: boolean;
  archived: boolean;
  publicPlayground: boolean;
  /** Agents of the owner's get it as a tool. Absent in rows from before there was any. */
  mcp?: boolean;
  /** Its page for others. Null, or absent, where there is none. */
  app?: App | null;
  folderId: string | null;
  thumbnail: string | null;
  /** Empty when there is none. */
  coverJson: string;
  nodesJson: string;
  edgesJson: string;
  viewportJson: string;
  /** The owner: a person or an organization. */
  createdBy: string;
  /** The person who made it; absent where that is the owner. */
  authorId?: string;
  /** 1 at first, one more with every change. */
  revision: number;
  /** Derived from the graph when it is saved. */
  generators: GeneratorUse[];
  /** JSON array of the input fields; derived. */
  fieldsJson: string;
  /** JSON object of the fields' saved values; derived. */
  valuesJson: string;
  /** JSON array of the names of the result's members; derived. Absent in rows from before it was noted. */
  resultsJson?: string;
  createdAt: Date;
  updatedAt: Date;
  /** Tells whether two graphs say the same; derived. */
  graphDigest: string;
  /** Ids and keys of files that the graph and the pictures name; derived. */
  mediaNames: string[];
  /** Names of secrets that its HTTP nodes send; derived, and absent in rows from before there were any. */
  secretNames?: string[];
  /** What lists show of the thumbnail: its address, or the key of the file made of a data URL; empty until that is made. */
  thumbnailRef: string | null;
  published?: Published | null;
  /** What apps, hooks and schedules run while a change of that is pending. Null, or absent, where none is. */
  approved?: Approved | null;
  /** The draft that they run where a node in them names the draft, likewise. */
  approvedDraft?: Approved | null;
  /** Set when an administrator took the template down. */
  takedown?: Takedown | null;
  /** An administrator has the template shown before others. */
  featured?: boolean;
}

/** The newest published version. */
export interface Published {
  version: number;
  /** The draft's revision that was published: it names the version's graph as a draft's revision names the draft's. */
  revision: number;
  graphDigest: string;
  generators: GeneratorUse[];
  /** Absent in rows from before there were any. */
  pinnedModels?: PinnedModels;
}

/** A graph that a caller who could run the workflow has approved. */
export interface Approved {
  /** A published version; 0: the draft as it was at the revision, which nobody has approved where it isn't kept. */
  version: number;
  revision: number;
  graphDigest: string;
  pinnedModels?: PinnedModels;
}

/** What tasks that a version names (`auto:image`) became when it was published, by name. */
export type PinnedModels = Readonly<Record<string, string>>;

export interface Takedown {
  reason: string;
  at: Date;
}

/** A generator node as far as estimates need it. */
export interface GeneratorUse {
  nodeId: string;
  model: string;
  inputsJson: string;
  items: number;
}

/** What a client may set. */
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
  | "folderId"
  | "thumbnail"
  | "coverJson"
  | "nodesJson"
  | "edgesJson"
  | "viewportJson"
>;

/** What is computed from the graph. */
export type Derived = Pick<Workflow, "generators" | "fieldsJson" | "valuesJson" | "resultsJson" | "graphDigest" | "secretNames">;

/** What lists show: a workflow without its graph. */
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
  | "thumbnailRef"
  | "featured"
>;

/** A workflow that sends secrets. */
export interface SecretUse {
  slug: string;
  name: string;
  secretNames: string[];
}

/** The input schema of a workflow. */
export type SchemaPart = Pick<Workflow, "name" | "description" | "fieldsJson" | "valuesJson" | "generators">;

/** A workflow as agents see it. */
export type Tool = Pick<Workflow, "slug" | "name" | "description" | "fieldsJson" | "resultsJson">;

/** A published version: immutable. */
export interface Version {
  /** Of its workflow. */
  creationId: string;
  version: number;
  note: string;
  /** The publisher's name of this publication; empty: none. */
  reference: string;
  createdBy: string;
  createdAt: Date;
  /** The draft's revision that it was. */
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
}

export type VersionHead = Pick<Version, "pinnedModels" | "version" | "note" | "createdAt" | "createdBy" | "name" | "description">;

/** Number of a workflow's newest published version; 0 when there is none. */
export const newest = ({ published }: Pick<Workflow, "published">): number => published?.version ?? 0;
