/**
 * How erasing an account affects each stored collection. Each service's `Erase` has one step per collection that is removed or emptied
 * (checked by the compiler). A test compares this table with the existing collections.
 */

export type Erasing =
  /** The account's documents are deleted. */
  | "removed"
  /** Documents stay, with ids and amounts only. */
  | "emptied"
  /** Deleted together with another collection. */
  | { with: string }
  /** Expires within this number of days. Until then no query finds it by account. */
  | { expiresDays: number }
  /** Deleted after all other collections. */
  | "last"
  /** Contains only ids and amounts. */
  | "kept"
  /** Contains no account data. */
  | "nothing";

export const ERASURE = {
  identity: {
    users: "last",
    keys: "removed",
    "deleted-keys": "removed",
    "key-requests": "removed",
    "service-accounts": "removed",
    secrets: "removed",
    "known-addresses": "removed",
    "pending-sign-ins": "removed",
    "run-secrets": "removed",
    "webhook-endpoints": "removed",
    "run-stops": "removed",
    "oidc-identities": "removed",
    "oidc-sign-ins": "removed",
    /**
     * The account is removed from organizations that have other owners, and its invitations end. If the organization itself is erased, its
     * document is deleted last, like users.
     */
    organizations: "emptied",
    audit: "emptied",
    /** Keyed hashes of addresses, which expire when attempts are no longer counted. */
    attempts: { expiresDays: 1 },
    tiers: "nothing",
  },
  workflows: {
    /** Slugs of deleted workflows stay reserved. */
    workflows: "removed",
    canaries: { with: "workflows" },
    canary_runs: { with: "workflows" },
    versions: { with: "workflows" },
    folders: "removed",
    owners: "removed",
  },
  executions: {
    schedules: "removed",
    hooks: "removed",
    executions: "removed",
    calls: { with: "executions" },
    submissions: { with: "executions" },
    batches: "removed",
    batchrows: { with: "batches" },
    decisionlinks: { with: "executions" },
    payloads: "removed",
    lines: "removed",
    moderation: "removed",
    erasures: "removed",
    mails: { expiresDays: 7 },
  },
  notifications: { deliveries: "removed", mails: { expiresDays: 7 } },
  triggers: { schedules: "removed", hooks: "removed" },
  usage: { usage: "removed", usage_folds: "removed", usage_totals: "removed", usage_days: "removed" },
  billing: {
    /** Amounts stay, because a balance is their sum. */
    accounts: "emptied",
    ledger: "emptied",
    counters: "removed",
    checkpoints: "kept",
    checkouts: "kept",
    payments: "kept",
  },
  media: { objects: "removed", counts: "removed", exports: "removed", grants: "removed", signingCertificates: "nothing" },
  models: { overrides: "nothing", servers: "nothing" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Erasing>>>>;

/** Effect on data outside MongoDB, by storage. */
export const ERASURE_ELSEWHERE = {
  redis: {
    "session:": "removed",
    /** Stored responses for an Idempotency-Key. */
    "idempotency:": "removed",
    /** A hash of a request under an Idempotency-Key. */
    "asked:": { expiresDays: 1 },
    "answering:": { expiresDays: 1 },
    "called-off:": { expiresDays: 1 },
    rate: { expiresDays: 1 },
    visits: { expiresDays: 1 },
    outgoing: { expiresDays: 1 },
  },
  temporal: { workflows: "removed", schedules: "removed" },
  /** Files, thumbnails and exports, in the local folder or the bucket. */
  files: { blobs: "removed" },
  /** Logs contain only ids. Texts, URLs and secrets are never logged. */
  logs: { lines: "kept" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Erasing>>>>;

type Table = typeof ERASURE;

/** Collections for which a service's `Erase` needs a step. */
export type ErasedCollection<S extends keyof Table> = {
  [C in keyof Table[S]]: Table[S][C] extends "removed" | "emptied" ? C : never;
}[keyof Table[S]] &
  string;

/** Default number of days during which an account can cancel its erasure. */
export const ERASURE_DAYS = 7;
