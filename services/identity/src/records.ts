import type { CustomTier, Notice } from "@nodeloom/kernel";
import type { StoredLink } from "./sessions/link-tokens";

/** Stored documents, one interface per collection. `_id` is a UUID unless stated otherwise. */

export interface UserRecord {
  _id: string;
  /** Trimmed and lower-cased; unique. */
  email: string;
  passwordHash: string;
  role: "user" | "admin";
  tier: string;
  approved: boolean;
  business: Business | null;
  suspended: boolean;
  /** Increased to end all sessions. */
  sessionEpoch: number;
  /** Increased to end all keys. */
  keyEpoch: number;
  /** Grants that the person set up before this time, and that act without them, have ended. Absent: none has. */
  accessFrom?: Date | null;
  /** Increases with every change by an administrator. */
  revision: number;
  /** The last suspension or loss of approval. */
  stop: StopRecord | null;
  /** The current reset link. */
  passwordReset: PasswordResetRecord | null;
  /** Absent on accounts that never started to set one up. */
  secondFactor?: SecondFactorRecord | null;
  /** When a provider or a mailed link verified the address; absent in old rows. */
  emailVerifiedAt?: Date | null;
  /** The current verification link. */
  verification?: StoredLink | null;
  /** By notice: true if the user doesn't want it by mail. */
  mutedNotices?: Partial<Record<Notice, boolean>>;
  /** Hash of the last configured password of this administrator. A password that the user chose later stays. */
  bootstrapHash: string | null;
  /** Set once an erasure is scheduled. */
  erasure?: ErasureRecord | null;
  /** Events that its webhook endpoints want; absent for none. */
  endpointEvents?: string[];
  /** Revision of the endpoints that they are of. */
  endpointRevision?: number;
  createdAt: Date;
}

/** State of an account's erasure. */
export interface ErasureRecord {
  requestedAt: Date;
  erasesAt: Date;
  /** Start of the erasure; it can't be cancelled afterwards. */
  begunAt: Date | null;
  /** Only this record remains. */
  endedAt: Date | null;
  /** Key of its known addresses once its own address is gone. */
  knownAs: string;
}

/** When a user's runs were stopped. */
export interface StopRecord {
  /** Id of its RunStopRecord. */
  id: string;
  at: Date;
}

/** An order to cancel a user's runs. Written before the user, and valid once the user refers to it. */
export interface RunStopRecord {
  _id: string;
  userId: string;
  at: Date;
  /** The current worker, and the end of its claim. */
  claim: string | null;
  claimedUntil: Date | null;
}

export interface PasswordResetRecord extends StoredLink {
  /** The link was only sent to the user's address, so using it verifies the address. */
  mailed?: boolean;
}

/** The TOTP secret and recovery codes of an account. */
export interface SecondFactorRecord {
  /** Identifies this secret; a replaced one has another id. */
  id: string;
  /** Id of the encryption key. */
  keyId: string;
  /** Base64. */
  sealed: string;
  /** Null until a code proves that an authenticator has the secret. Sign-in doesn't ask for codes before. */
  confirmedAt: Date | null;
  /** The latest time step with an accepted code. Codes of this and earlier steps are rejected. */
  lastStep: number;
  /** Keyed hashes of unused recovery codes. */
  recoveryCodes: string[];
}

/** A sign-in between the password and the code; `_id` is a keyed hash of its token. */
export interface PendingSignInRecord {
  _id: string;
  userId: string;
  /** Keyed hash of the network that sent the password. */
  network: string;
  /** The user's session epoch at the password; a later one ends this sign-in. */
  sessionEpoch: number;
  expiresAt: Date;
}

/** An OpenID Connect identity linked to an account; `_id` is a hash of issuer and subject. */
export interface OidcIdentityRecord {
  _id: string;
  issuer: string;
  subject: string;
  /** Unique: one identity per account. */
  userId: string;
  linkedAt: Date;
  /** True if its claims made the user an administrator; without them the role is removed. */
  admin: boolean;
}

/** A sign-in in progress at the provider; `_id` is a keyed hash of its state. */
export interface OidcSignInRecord {
  _id: string;
  /** Keyed hash of the browser's cookie. */
  browser: string;
  nonce: string;
  /** PKCE verifier. */
  verifier: string;
  redirectUri: string;
  returnTo: string;
  /** The account to link; null for a sign-in. */
  linking: { userId: string; sessionEpoch: number } | null;
  expiresAt: Date;
}

/** An address used to sign in to an account; `_id` is a keyed hash of both. */
export interface KnownAddressRecord {
  _id: string;
  /** Keyed hash of the account's e-mail address; absent in old rows. */
  account?: string;
  at: Date;
}

export interface Business {
  name: string;
  /** Verified by an administrator. */
  verified: boolean;
}

/** `_id` is the tier's id. */
export interface TierRecord extends Omit<CustomTier, "id" | "caps"> {
  _id: string;
  /** Absent in old rows. */
  caps?: CustomTier["caps"];
  /** Set while a deletion checks if users have the tier. It can't be assigned meanwhile. */
  deletingAt: Date | null;
  /** Identifies the last change until it has reached all users' accounts; null afterwards. */
  rolloutRevision: string | null;
  /** Next page of users; empty at the start. */
  rolloutCursor: string;
  /** The current worker, and the end of its claim. Later changes don't reset these. */
  rolloutClaim: string | null;
  rolloutUntil: Date | null;
}

export interface WebhookRecord {
  url: string;
  events: string[];
  disabledAt: Date | null;
  disabledReason: string;
  /** Identifies these settings; every change gives a new one. */
  revision: string;
  /** Time of the first failure since the last success. */
  failingSince: Date | null;
}

export interface WebhookSecretRecord {
  /** Encrypted for the key's id. */
  sealed: string;
  createdAt: Date;
}

/** `_id` is the owner: a person or an organization. */
export interface RunSecretRecord {
  _id: string;
  /** Newest first. */
  secrets: WebhookSecretRecord[];
}

/** `_id` is the owner: a person or an organization. */
export interface EndpointsRecord {
  _id: string;
  /** Increases with every change. */
  revision: number;
  /** Oldest first. */
  endpoints: EndpointRecord[];
}

export interface EndpointRecord extends WebhookRecord {
  /** UUID. */
  id: string;
  description: string;
  /** Newest first. */
  secrets: WebhookSecretRecord[];
  createdAt: Date;
  updatedAt: Date;
}

export interface RotationRecord {
  graceSeconds: number;
  /** End of the previous value; null until the current one is first used. */
  previousEndsAt: Date | null;
}

export interface KeyRecord {
  _id: string;
  /** The owner: a person or an organization. */
  userId: string;
  /** The maker; absent for the owner. */
  madeBy?: string;
  /** One of the owner's slots; unique per owner, which bounds the number of keys. */
  slot: number;
  /** The maker's key epoch at creation; a later one ends the key. */
  epoch: number;
  name: string;
  start: string;
  preset: string;
  capabilities: string[];
  /** Metadata of every run by the key; absent in old rows. */
  metadata?: { name: string; value: string }[];
  /** The only alias that runs by the key use; absent or empty for any. */
  alias?: string;
  /** Hashes of the current value and, after a rotation, the previous one. Each is unique. */
  hashes: string[];
  rotation: RotationRecord | null;
  webhook: WebhookRecord | null;
  /** Newest first, at most two. */
  webhookSecrets: WebhookSecretRecord[];
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
}

/** Sign-in attempts within a window; `_id` is a hash of the counted subject. */
export interface AttemptsRecord {
  _id: string;
  count: number;
  endsAt: Date;
  /** Earliest time of the next attempt; absent for any time. */
  nextAt?: Date | null;
}

/** A change by an administrator or to an owner's resources; `_id` is chosen by the writer. Empty JSON texts have no content. */
export interface AuditRecord {
  _id: string;
  actorId: string;
  /** Empty for a session. */
  keyId: string;
  action: string;
  target: string;
  changeJson: string;
  beforeJson: string;
  afterJson: string;
  outcome: "pending" | "done" | "failed";
  errorCode: string;
  requestId: string;
  at: Date;
  /** The account whose owners can read the row; absent for administrators only. */
  ownerId?: string;
}

/** A value that is used but never shown; `_id` combines owner and name. */
export interface SecretRecord {
  _id: string;
  /** `platform`, or the owner's id. */
  owner: string;
  name: string;
  /** Id of the encryption key. */
  keyId: string;
  /** Base64. */
  sealed: string;
  /** The last characters of the value; empty for a short value. */
  hint: string;
  hosts: string[];
  /** Identifies the set value; every change gives a new one. */
  revision: string;
  setBy: string;
  setAt: Date;
  /** Time of the first value; unknown in old rows. */
  createdAt?: Date;
}
