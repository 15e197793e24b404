/** The runner of a run. Requests and rows share this shape. */

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
  /** Address of the key's webhook; empty if the key has none or can't receive webhooks. */
  webhookUrl: string;
  webhookEvents: string[];
  /** Body format of the run's own webhook: `fal` or `replicate`. Empty or absent for Nodeloom's format. */
  webhookForm?: string;
  /** True if the webhook comes from the run request and replaces the key's webhook. */
  webhookOwn?: boolean;
  /** Events to which the user's webhook endpoints are subscribed; absent in rows of earlier releases. */
  endpointEvents?: string[];
  /** Capabilities of the caller. A direct run of a model needs them for its fallbacks. */
  capabilities: string[];
  /** Metadata that the key fixes; absent in rows of earlier releases. */
  keyMetadata?: Record<string, string>;
  /** The only alias with which the key can run workflows; empty or absent for any alias. */
  keyAlias?: string | undefined;
  /** Maximum number of open batches, and of rows in one batch, set by the tier; absent for the default. */
  maxBatches?: number | undefined;
  maxBatchRows?: number | undefined;
  /** Person who started the run, if the user is an organization. */
  personId?: string | undefined;
}

/** Slug of a workflow, or name of a model. */
export type Target = { $case: "workflowSlug"; value: string } | { $case: "model"; value: string };
