/**
 * What erasing an account does to everything that is stored. The one table: each service's `Erase` has a step for every collection of
 * its that is removed or emptied (the compiler compares them), and a test compares the table with the collections that there are.
 */

export type Erasing =
  /** The account's documents go. */
  | "removed"
  /** They stay, with ids and amounts alone. */
  | "emptied"
  /** They go with those of another collection, which is erased. */
  | { with: string }
  /** What it has of the account ends by itself within this many days, and is found by nobody until then. */
  | { expiresDays: number }
  /** It goes last, when nothing else is left. */
  | "last"
  /** It has ids and amounts alone. */
  | "kept"
  /** It has nothing of accounts. */
  | "nothing";

/** By service and collection. */
export const ERASURE = {
  identity: {
    users: "last",
    keys: "removed",
    secrets: "removed",
    "known-addresses": "removed",
    "pending-sign-ins": "removed",
    "run-stops": "removed",
    "oidc-identities": "removed",
    "oidc-sign-ins": "removed",
    /** The person leaves those that others own, too; invitations end with that. One that is erased itself goes last, as users do. */
    organizations: "emptied",
    audit: "emptied",
    /** Keyed hashes of addresses, for as long as attempts are counted. */
    attempts: { expiresDays: 1 },
    tiers: "nothing",
  },
  workflows: {
    /** Their slugs stay taken. */
    workflows: "removed",
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
    payloads: "removed",
    lines: "removed",
    moderation: "removed",
    mails: { expiresDays: 7 },
  },
  usage: { usage: "removed", usage_folds: "removed", usage_totals: "removed", usage_days: "removed" },
  billing: {
    /** What makes the sum of its ledger stays. */
    accounts: "emptied",
    ledger: "emptied",
    checkpoints: "kept",
    checkouts: "kept",
    payments: "kept",
  },
  media: { objects: "removed", counts: "removed", exports: "removed" },
  models: { overrides: "nothing", servers: "nothing" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Erasing>>>>;

/** The same of what is kept outside of MongoDB, by where it is. */
export const ERASURE_ELSEWHERE = {
  redis: {
    "session:": "removed",
    /** Answers that are repeated under an Idempotency-Key. */
    "idempotency:": "removed",
    "asked:": { with: "executions" },
    "answering:": { expiresDays: 1 },
    "called-off:": { expiresDays: 1 },
    rate: { expiresDays: 1 },
    visits: { expiresDays: 1 },
    outgoing: { expiresDays: 1 },
  },
  temporal: { workflows: "removed", schedules: "removed" },
  /** Bytes of files, of thumbnails and of exports: in the folder, or the bucket. */
  files: { blobs: "removed" },
  /** Ids alone: texts, addresses and secrets are kept out of them. */
  logs: { lines: "kept" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Erasing>>>>;

type Table = typeof ERASURE;

/** Collections of a service of which its `Erase` erases something itself. */
export type ErasedCollection<S extends keyof Table> = {
  [C in keyof Table[S]]: Table[S][C] extends "removed" | "emptied" ? C : never;
}[keyof Table[S]] &
  string;

/** How long an account that is to be erased can change its mind, unless the operator says otherwise. */
export const ERASURE_DAYS = 7;
