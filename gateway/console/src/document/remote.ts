import type { DocGraph } from "./graph";

/** Settings of a workflow that the editor changes, besides the graph. */
export interface Meta {
  name: string;
  description: string;
  tags: readonly string[];
  isTemplate: boolean;
  hidden: boolean;
  archived: boolean;
  publicPlayground: boolean;
  mcp: boolean;
  /** Null: as long as the installation keeps runs. */
  retentionDays: number | null;
  folderId: string | null;
}

/** What callers run: a published version, or the draft if there is none. */
export interface Published {
  /** The newest version. */
  version: number | null;
  /** The version that callers run. */
  production: number | null;
  /** The saved draft differs from it. */
  changed: boolean;
  /** Apps, hooks and schedules run an earlier graph until the change is confirmed. */
  pending: boolean;
}

export interface Loaded {
  etag: string;
  published: Published;
  graph: DocGraph;
  meta: Meta;
}

export type Saved = Pick<Loaded, "etag" | "published">;

/** Where documents are saved. */
export interface Remote {
  /** @throws WriteError */
  load(): Promise<Loaded>;
  /**
   * Replaces a revision.
   * @returns the new tag, or "stale" if a newer revision exists
   * @throws WriteError
   */
  save(bodyText: string, etag: string): Promise<Saved | "stale">;
}

/** Unsaved work that survives a crash in the browser's storage. */
export interface Draft {
  etag: string;
  base: { nodes: string; edges: string };
  mine: { nodes: string; edges: string };
  meta: Partial<Meta>;
  savedAt: number;
}

export interface Drafts {
  put(draft: Draft): Promise<void>;
  /** Takes over drafts of this workflow from closed tabs. */
  take(): Promise<Draft[]>;
  clear(): Promise<void>;
}
