/** An import of a bundle on its way: what its Temporal workflow carries out. */

/** A workflow that is saved and perhaps published. */
export interface BundleStep {
  name: string;
  /** Empty to create it. */
  slug: string;
  revision: number;
  generation: number;
  source: string;
  publish: boolean;
  /** Where its content is stored. */
  payload: string;
  /** Names of the bundle's workflows that it uses. */
  inner: string[];
}

export interface BundleImport {
  ownerId: string;
  authorId?: string;
  planId: string;
  /** Empty: nothing is published. */
  alias: string;
  unapproved: boolean;
  withoutRun: boolean;
  maxWorkflows?: number;
}

export interface BundleOrder extends BundleImport {
  /** Inner workflows first. */
  steps: BundleStep[];
  /** Known slugs by name. */
  slugs: Record<string, string>;
  /** Versions that need no publication, by name. */
  versions: Record<string, number>;
  /** The names whose alias moves. */
  moves: string[];
}

export interface BundleOutcome {
  slugs: Record<string, string>;
  versions: Record<string, number>;
}
