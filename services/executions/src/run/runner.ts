/** The runner of a run, shared by requests and rows. */

export interface Runner {
  userId: string;
  role: string;
  tier: string;
  baseTier: string;
  markupPermille: number;
  concurrency: number;
  /** Key that submitted the run; empty for a session. */
  keyId: string;
  source: string;
  /** Set if the key can receive webhooks and has one. */
  webhookUrl: string;
  webhookEvents: string[];
  /** Form of the body of the run's own webhook: `fal` or `replicate`. Empty or absent for Nodeloom's. */
  webhookForm?: string;
  /** The webhook is the run's own and replaces the key's. */
  webhookOwn?: boolean;
  /** Events that webhook endpoints of the user want; absent in rows of earlier releases. */
  endpointEvents?: string[];
  /** Capabilities of the caller; a direct run of a model needs them for its fallbacks. */
  capabilities: string[];
  /** Metadata that the key fixes; absent in rows of earlier releases. */
  keyMetadata?: Record<string, string>;
  /** The only alias that the key's runs of workflows use; empty or absent for any. */
  keyAlias?: string | undefined;
  /** Batches that may be open at once, and rows of one, by the tier; absent: the usual number. */
  maxBatches?: number | undefined;
  maxBatchRows?: number | undefined;
  /** The person, if the user is an organization. */
  personId?: string | undefined;
}

/** Slug of a workflow, or name of a model. */
export type Target = { $case: "workflowSlug"; value: string } | { $case: "model"; value: string };
