/** Stored documents of keys, webhook endpoints and signing secrets. */

export interface WebhookRecord {
  url: string;
  events: string[];
  disabledAt: Date | null;
  disabledReason: string;
  /** Identifies these settings. Every change creates a new revision. */
  revision: string;
  /** Time of the first failure since the last success. */
  failingSince: Date | null;
}

export interface WebhookSecretRecord {
  /** The secret, encrypted for the key's id. */
  sealed: string;
  createdAt: Date;
}

/** `_id` is the owner, a person or an organization. */
export interface RunSecretRecord {
  _id: string;
  /** Secrets, newest first. */
  secrets: WebhookSecretRecord[];
}

/** `_id` is the owner, a person or an organization. */
export interface EndpointsRecord {
  _id: string;
  /** Incremented by every change. */
  revision: number;
  /** Endpoints, oldest first. */
  endpoints: EndpointRecord[];
}

export interface EndpointRecord extends WebhookRecord {
  id: string;
  description: string;
  /** Secrets, newest first. */
  secrets: WebhookSecretRecord[];
  createdAt: Date;
  updatedAt: Date;
}

export interface RotationRecord {
  graceSeconds: number;
  /** End of the previous value; null until the current value is used for the first time. */
  previousEndsAt: Date | null;
}

export interface KeyRecord {
  _id: string;
  /** The owner, a person or an organization. */
  userId: string;
  /** The person who created the key; absent if it is the owner. */
  madeBy?: string;
  /** One of the owner's slots. It is unique per owner, which bounds the number of keys. */
  slot: number;
  /** The creator's key epoch when the key was created. A higher epoch ends the key. */
  epoch: number;
  name: string;
  start: string;
  preset: string;
  capabilities: string[];
  /** Metadata added to every run by the key. Absent in old rows. */
  metadata?: { name: string; value: string }[];
  /** The only alias that the key's runs can use; absent or empty for any alias. */
  alias?: string;
  /** Hashes of the current value and, after a rotation, of the previous value. Each is unique. */
  hashes: string[];
  rotation: RotationRecord | null;
  webhook: WebhookRecord | null;
  /** At most two secrets, newest first. */
  webhookSecrets: WebhookSecretRecord[];
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  /** Number of requests in its log so far; absent before the first. */
  requests?: number;
}

/** One request by a key. `_id` is the key and its place in the key's log. */
export interface KeyRequestRecord {
  _id: string;
  userId: string;
  keyId: string;
  at: Date;
  method: string;
  /** Template of the route, without parameters. */
  route: string;
  status: number;
  durationMs: number;
  errorCode?: string;
  requestId: string;
  executionId?: string;
  ip?: string;
}

/** The parts of a deleted key that lists show. Without hashes it can't authenticate. */
export interface DeletedKeyRecord extends Pick<
  KeyRecord,
  "_id" | "userId" | "madeBy" | "name" | "start" | "preset" | "capabilities" | "createdAt" | "lastUsedAt" | "expiresAt"
> {
  deletedAt: Date;
}
