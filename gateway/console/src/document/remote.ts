import type { DocGraph } from "./graph";

/** Settings of a workflow besides its graph, as far as the editor changes them. */
export interface Meta {
  name: string;
  description: string;
  tags: readonly string[];
  isTemplate: boolean;
  hidden: boolean;
  archived: boolean;
  publicPlayground: boolean;
  mcp: boolean;
  folderId: string | null;
}

/** What callers run: a published version, or the draft while there is none. */
export interface Published {
  /** The newest version. */
  version: number | null;
  /** The version that callers run. */
  production: number | null;
  /** Whether the saved draft's graph is another one. */
  changed: boolean;
  /** Whether apps, hooks and schedules run an earlier graph until the change is confirmed. */
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
   * @returns the new one's tag, or "stale" when there is a newer revision
   * @throws WriteError
   */
  save(bodyText: string, etag: string): Promise<Saved | "stale">;
}

/** What a crash must not take: kept in the browser until it is saved. */
export interface Draft {
  etag: string;
  base: { nodes: string; edges: string };
  mine: { nodes: string; edges: string };
  meta: Partial<Meta>;
  savedAt: number;
}

export interface Drafts {
  put(draft: Draft): Promise<void>;
  /** Drafts of this workflow that no open tab owns any more. They are the caller's afterwards. */
  take(): Promise<Draft[]>;
  clear(): Promise<void>;
}
