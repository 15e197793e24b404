/** Who runs what: the same shape in requests, and in the rows that keep it. */

/** Who runs, and what their plan allows. */
export interface Runner {
  userId: string;
  role: string;
  tier: string;
  baseTier: string;
  markupPermille: number;
  concurrency: number;
  /** The key that submitted the run; empty for a session. */
  keyId: string;
  source: string;
  /** Set when the key can receive webhooks and has one. */
  webhookUrl: string;
  webhookEvents: string[];
  /** Capabilities of the caller: by those for models, a run of a model can call others in its place. */
  capabilities: string[];
  /** Metadata that every run by the key has; rows of earlier releases have none. */
  keyMetadata?: Record<string, string>;
  /** The person, where the user is an organization. */
  personId?: string | undefined;
}

/** A workflow by its slug, or a model by its name. */
export type Target = { $case: "workflowSlug"; value: string } | { $case: "model"; value: string };
