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
  /** Null keeps runs as long as the installation does. */
  retentionDays: number | null;
  folderId: string | null;
}

/** Version that callers run: a published one, or the draft if there is none. */
export interface PublishedState {
  version: number | null;
  /** The version that callers run. */
  production: number | null;
  /** True if the saved draft differs from the published version. */
  changed: boolean;
  /** True if apps, hooks and schedules run an earlier graph until the change is confirmed. */
  pending: boolean;
}

export interface LoadedDocument {
  etag: string;
  published: PublishedState;
  graph: DocGraph;
  meta: Meta;
}

export type SavedState = Pick<LoadedDocument, "etag" | "published">;

/** Storage of documents. */
export interface Remote {
  /** @throws WriteError */
  load(): Promise<LoadedDocument>;
  /**
   * Replaces a revision.
   * @returns the new tag, or "stale" if a newer revision exists
   * @throws WriteError
   */
  save(bodyText: string, etag: string): Promise<SavedState | "stale">;
}

/** Unsaved work in the browser's storage, which survives a crash. */
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
