import type { CustomTier, Notice } from "@nodeloom/kernel";

/** Stored documents, one interface per collection. `_id` is a UUID unless stated otherwise. */

export interface UserRecord {
  _id: string;
  /** Trimmed and in lower case. Unique. */
  email: string;
  passwordHash: string;
  role: "user" | "admin";
  tier: string;
  approved: boolean;
  business: Business | null;
  suspended: boolean;
  /** Incremented to end all sessions. */
  sessionEpoch: number;
  /** Incremented to end all keys. */
  keyEpoch: number;
  /** Grants that the person set up before this time no longer work. Absent if no grant has ended. */
  accessFrom?: Date | null;
  /** Incremented by every change that an administrator makes. */
  revision: number;
  /** The latest suspension or loss of approval. */
  stop: StopRecord | null;
  passwordReset: PasswordResetRecord | null;
  /** Absent if the account never started to set one up. */
  secondFactor?: SecondFactorRecord | null;
  /** Time at which a provider or an emailed link verified the address. Absent in old rows. */
  emailVerifiedAt?: Date | null;
  verification?: StoredLink | null;
  /** True for each notice that the user doesn't want by email. */
  mutedNotices?: Partial<Record<Notice, boolean>>;
  /** Hash of the last password configured for this administrator. A later password chosen by the user stays. */
  bootstrapHash: string | null;
  /** Set when an erasure is scheduled. */
  erasure?: ErasureRecord | null;
  /** Events that the account's webhook endpoints receive; absent if there are none. */
  endpointEvents?: string[];
  /** Revision of the endpoints from which `endpointEvents` was recorded. */
  endpointRevision?: number;
  createdAt: Date;
}

export interface ErasureRecord {
  requestedAt: Date;
  erasesAt: Date;
  /** Start of the erasure. From then on it can't be cancelled. */
  begunAt: Date | null;
  /** Set when the erasure is complete and only this record remains. */
  endedAt: Date | null;
  /** Key of the account's known addresses, kept because its own address is already removed. */
  knownAs: string;
}

/** Time at which a user's runs were stopped. */
export interface StopRecord {
  /** Id of the RunStopRecord. */
  id: string;
  at: Date;
}

/** An instruction to cancel a user's runs. It is stored before the user is changed, and becomes valid when the user refers to it. */
export interface RunStopRecord {
  _id: string;
  userId: string;
  at: Date;
}

export interface StoredLink {
  /** Keyed hash of the link's secret. */
  hash: string;
  expiresAt: Date;
}

export interface PasswordResetRecord extends StoredLink {
  /** True if the link was sent only to the user's address, so that using it verifies the address. */
  mailed?: boolean;
}

/** The TOTP secret and recovery codes of an account. */
export interface SecondFactorRecord {
  /** Identifies the secret. A new secret has a different id. */
  id: string;
  /** Id of the encryption key. */
  keyId: string;
  /** The encrypted secret in Base64. */
  sealed: string;
  /** Null until a code proves that an authenticator has the secret. Sign-in requires codes only after that. */
  confirmedAt: Date | null;
  /** The latest time step with an accepted code. Codes for this and earlier steps are rejected. */
  lastStep: number;
  /** Keyed hashes of unused recovery codes. */
  recoveryCodes: string[];
}

/** A sign-in after the password and before the code. `_id` is a keyed hash of its token. */
export interface PendingSignInRecord {
  _id: string;
  userId: string;
  /** Keyed hash of the network that sent the password. */
  network: string;
  /** The user's session epoch when the password was checked. A higher epoch ends this sign-in. */
  sessionEpoch: number;
  expiresAt: Date;
}

/** An OpenID Connect identity linked to an account. `_id` is a hash of issuer and subject. */
export interface OidcIdentityRecord {
  _id: string;
  issuer: string;
  subject: string;
  /** Unique, so that an account has at most one identity. */
  userId: string;
  linkedAt: Date;
  /** True if the claims made the user an administrator. If they no longer do, the role is removed. */
  admin: boolean;
}

/** A sign-in in progress at the provider. `_id` is a keyed hash of its state. */
export interface OidcSignInRecord {
  _id: string;
  /** Keyed hash of the browser's cookie. */
  browser: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
  returnTo: string;
  /** The account to link; null if the user signs in. */
  linking: { userId: string; sessionEpoch: number } | null;
  expiresAt: Date;
}

/** An address from which an account signed in. `_id` is a keyed hash of both. */
export interface KnownAddressRecord {
  _id: string;
  /** Keyed hash of the account's email address. Absent in old rows. */
  account?: string;
  at: Date;
}

export interface Business {
  name: string;
  /** True if an administrator verified the business. */
  verified: boolean;
}

/** `_id` is the tier's id. */
export interface TierRecord extends Omit<CustomTier, "id" | "caps"> {
  _id: string;
  caps?: CustomTier["caps"];
  /** Set while a deletion checks whether users have the tier. Meanwhile the tier can't be assigned. */
  deletingAt: Date | null;
  /** Identifies the last change until all users' accounts have it; null afterwards. */
  rolloutRevision: string | null;
  /** Next page of users; empty for the first page. */
  rolloutCursor: string;
}

/** Sign-in attempts within a window. `_id` is a hash of the subject whose attempts are counted. */
export interface AttemptsRecord {
  _id: string;
  count: number;
  endsAt: Date;
  /** Earliest time of the next attempt; absent if there is no wait. */
  nextAt?: Date | null;
}

/** A change by an administrator or to an owner's resources. Its writer chooses `_id`. Empty JSON texts mean no content. */
export interface AuditRecord {
  _id: string;
  actorId: string;
  /** Id of the key; empty for a session. */
  keyId: string;
  action: string;
  target: string;
  changeJson: string;
  beforeJson: string;
  afterJson: string;
  outcome: "pending" | "done" | "failed";
  /** Set while its messages to webhook endpoints are pending. */
  unannounced?: true;
  errorCode: string;
  requestId: string;
  at: Date;
  /** The account whose owners can read the row. Absent for rows that only administrators can read. */
  ownerId?: string;
  /** Address of the caller; absent in rows of earlier releases. */
  ip?: string;
}

/** A value that is used but never shown. `_id` combines owner and name. */
export interface SecretRecord {
  _id: string;
  /** `platform`, or the owner's id. */
  owner: string;
  name: string;
  /** Id of the encryption key. */
  keyId: string;
  /** The encrypted value in Base64. */
  sealed: string;
  /** The last characters of the value; empty if the value is short. */
  hint: string;
  hosts: string[];
  /** Slugs of the workflows whose nodes can send it; absent for all workflows of the owner. */
  workflows?: string[];
  /** Identifies the current value. Every change creates a new revision. */
  revision: string;
  setBy: string;
  setAt: Date;
  /** Time of the first value. Absent in old rows. */
  createdAt?: Date;
}
