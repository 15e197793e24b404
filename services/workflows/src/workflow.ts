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
  folderId: string | null;
  thumbnail: string | null;
  /** Empty when there is none. */
  coverJson: string;
  nodesJson: string;
  edgesJson: string;
  viewportJson: string;
  createdBy: string;
  /** 1 at first, one more with every change. */
  revision: number;
  /** Derived from the graph when it is saved. */
  generators: GeneratorUse[];
  /** JSON array of the input fields; derived. */
  fieldsJson: string;
  /** JSON object of the fields' saved values; derived. */
  valuesJson: string;
  createdAt: Date;
  updatedAt: Date;
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
  | "folderId"
  | "thumbnail"
  | "coverJson"
  | "nodesJson"
  | "edgesJson"
  | "viewportJson"
>;

/** What is computed from the graph. */
export type Derived = Pick<Workflow, "generators" | "fieldsJson" | "valuesJson">;

/** What lists show: a workflow without its graph. */
export type Summary = Pick<
  Workflow,
  | "slug"
  | "name"
  | "description"
  | "tags"
  | "isTemplate"
  | "hidden"
  | "archived"
  | "folderId"
  | "thumbnail"
  | "coverJson"
  | "createdBy"
  | "generators"
  | "updatedAt"
>;

/** The input schema of a workflow. */
export type SchemaPart = Pick<Workflow, "name" | "description" | "fieldsJson" | "valuesJson" | "generators">;
