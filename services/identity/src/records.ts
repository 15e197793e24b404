import type { CustomTier, Notice } from "@nodeloom/kernel";
import type { StoredLink } from "./sessions/link-tokens";

/** What is stored, one interface per collection. `_id` is a UUID where nothing else is said. */

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
  /** Raised to end all sessions. */
  sessionEpoch: number;
  /** Raised to end all keys. */
  keyEpoch: number;
  /** What the person set up before it, and acts without them, has ended. Absent: nothing has. */
  accessFrom?: Date | null;
  /** One more with every change by an administrator. */
  revision: number;
  /** The last suspension or loss of approval. */
  stop: StopRecord | null;
  /** The reset link that works now. */
  passwordReset: PasswordResetRecord | null;
  /** Absent on accounts that never began with one. */
  secondFactor?: SecondFactorRecord | null;
  /** When a provider's word or a mailed link proved that the address is the user's; absent on accounts from before there was any. */
  emailVerifiedAt?: Date | null;
  /** The mailed link that proves the address. */
  verification?: StoredLink | null;
  /** By notice: whether the user does not want it by mail. */
  mutedNotices?: Partial<Record<Notice, boolean>>;
  /** Hash of the configured password that this administrator was last given; a password that the user chose since stays. */
  bootstrapHash: string | null;
  /** Set once the account is to be erased. */
  erasure?: ErasureRecord | null;
  createdAt: Date;
}

/** When an account is erased, and how far that has come. */
export interface ErasureRecord {
  requestedAt: Date;
  erasesAt: Date;
  /** From then on the account can't be had back. */
  begunAt: Date | null;
  /** Nothing is left of the account but this. */
  endedAt: Date | null;
  /** What its known addresses are named by, once its own address is gone. */
  knownAs: string;
}

/** When a user's runs were to be cancelled. */
export interface StopRecord {
  /** Of its RunStopRecord. */
  id: string;
  at: Date;
}

/** That a user's runs are to be cancelled. Written before the user, which names it once it holds. */
export interface RunStopRecord {
  _id: string;
  userId: string;
  at: Date;
  /** Who carries it out, and until when nobody else does. */
  claim: string | null;
  claimedUntil: Date | null;
}

export interface PasswordResetRecord extends StoredLink {
  /** It went to the user's address and nowhere else. */
  mailed?: boolean;
}

/** What a sign-in takes beside the password. */
export interface SecondFactorRecord {
  /** Names this secret; another one has another. */
  id: string;
  /** Names the key under which the secret is encrypted. */
  keyId: string;
  /** Base64. */
  sealed: string;
  /** Null until a code has proven that an authenticator has the secret: it is not asked for before. */
  confirmedAt: Date | null;
  /** The latest time step of which a code was taken: none of it or of an earlier one is taken any more. */
  lastStep: number;
  /** Keyed hashes of the recovery codes that were not used. */
  recoveryCodes: string[];
}

/** A sign-in whose password was right, and which takes a code; `_id` is a keyed hash of its token. */
export interface PendingSignInRecord {
  _id: string;
  userId: string;
  /** Keyed hash of the network that the password came from. */
  network: string;
  /** The user's then: a later one ends it. */
  sessionEpoch: number;
  expiresAt: Date;
}

/** A person at an OpenID Connect provider who signs in to an account; `_id` is a hash of issuer and subject. */
export interface OidcIdentityRecord {
  _id: string;
  issuer: string;
  subject: string;
  /** Unique: one identity for an account. */
  userId: string;
  linkedAt: Date;
  /** Its claims made the user an administrator; the role goes with them. */
  admin: boolean;
}

/** A sign-in whose browser is at the provider; `_id` is a keyed hash of its state. */
export interface OidcSignInRecord {
  _id: string;
  /** Keyed hash of what the browser's cookie has. */
  browser: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
  redirectUri: string;
  returnTo: string;
  /** The account that is to be linked; null where somebody signs in. */
  linking: { userId: string; sessionEpoch: number } | null;
  expiresAt: Date;
}

/** An address from which someone signed in to an account; `_id` is a keyed hash of both. */
export interface KnownAddressRecord {
  _id: string;
  /** Keyed hash of the account's e-mail address; absent on those from before there was any. */
  account?: string;
  at: Date;
}

/** The business that an account is for. */
export interface Business {
  name: string;
  /** An administrator has checked it. */
  verified: boolean;
}

/** `_id` is the tier's id. */
export interface TierRecord extends Omit<CustomTier, "id"> {
  _id: string;
  /** Set while a deletion is deciding whether anyone has the tier; such a tier can't be assigned. */
  deletingAt: Date | null;
  /** Names the last change while it has not reached the accounts of all the tier's users; null when it has. */
  rolloutRevision: string | null;
  /** Of the page of users to go on with; empty at the start. */
  rolloutCursor: string;
  /** Who carries the change, and until when nobody else does. Later changes leave these as they are. */
  rolloutClaim: string | null;
  rolloutUntil: Date | null;
}

export interface WebhookRecord {
  url: string;
  events: string[];
  disabledAt: Date | null;
  disabledReason: string;
  /** Names these settings; setting the webhook again gives another one. */
  revision: string;
  /** When the first of the failures came that no success has followed yet. */
  failingSince: Date | null;
}

export interface WebhookSecretRecord {
  /** Encrypted for the key's id. */
  sealed: string;
  createdAt: Date;
}

export interface RotationRecord {
  graceSeconds: number;
  /** When the previous value stops; null until the current one is first used. */
  previousEndsAt: Date | null;
}

export interface KeyRecord {
  _id: string;
  /** Whose it is: a person or an organization. */
  userId: string;
  /** The person who made it; absent: the owner. */
  madeBy?: string;
  /** Which of the owner's places the key takes; unique per owner, which bounds their number. */
  slot: number;
  /** The maker's key epoch when the key was made; a later one ends it. */
  epoch: number;
  name: string;
  start: string;
  preset: string;
  capabilities: string[];
  /** Metadata that every run by the key has; absent for keys from before there was any. */
  metadata?: { name: string; value: string }[];
  /** Hashes of the values that may work: the current one and, after a rotation, the previous one. Each is unique. */
  hashes: string[];
  rotation: RotationRecord | null;
  webhook: WebhookRecord | null;
  /** Newest first, at most two. */
  webhookSecrets: WebhookSecretRecord[];
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
}

/** Sign-in attempts within a window; `_id` is a hash of what they are counted for. */
export interface AttemptsRecord {
  _id: string;
  count: number;
  endsAt: Date;
  /** No attempt before this; absent: at any time. */
  nextAt?: Date | null;
}

/** One write by an administrator or in what an owner has; `_id` is chosen by who makes it. The JSON texts are empty when there is nothing to say. */
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
  /** Whose owners may read the row; absent: administrators alone. */
  ownerId?: string;
}

/** A value that is used and never shown; `_id` is its owner and its name. */
export interface SecretRecord {
  _id: string;
  /** `platform`, or whose it is. */
  owner: string;
  name: string;
  /** Names the key under which it is encrypted. */
  keyId: string;
  /** Base64. */
  sealed: string;
  /** The last characters of the value; empty where they would tell too much. */
  hint: string;
  hosts: string[];
  /** Names what was set; setting it again gives another one. */
  revision: string;
  setBy: string;
  setAt: Date;
  /** When it was set first; unknown of the oldest. */
  createdAt?: Date;
}
