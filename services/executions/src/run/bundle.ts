/** Input of the Temporal workflow that imports a bundle. */

/** A workflow that is saved and possibly published. */
export interface BundleStep {
  name: string;
  /** Slug of the workflow; empty to create it. */
  slug: string;
  revision: number;
  generation: number;
  source: string;
  publish: boolean;
  /** Key of the stored content. */
  payload: string;
  /** Names of the bundle's workflows that this workflow uses. */
  inner: string[];
}

export interface BundleImport {
  ownerId: string;
  authorId?: string;
  planId: string;
  /** Alias that the import moves; empty to publish nothing. */
  alias: string;
  unapproved: boolean;
  withoutRun: boolean;
  maxWorkflows?: number;
}

export interface BundleOrder extends BundleImport {
  /** Steps in order: inner workflows come first. */
  steps: BundleStep[];
  /** Known slugs by workflow name. */
  slugs: Record<string, string>;
  /** Existing versions by workflow name, for workflows that needn't be published again. */
  versions: Record<string, number>;
  /** Names of the workflows whose alias moves. */
  moves: string[];
}

export interface BundleOutcome {
  slugs: Record<string, string>;
  versions: Record<string, number>;
}
