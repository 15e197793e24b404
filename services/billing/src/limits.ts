import { LIMITS } from "@nodeloom/kernel";

export const BILLING_LIMITS = {
  /** Model calls per execution, with their fallbacks and repairs. */
  itemsPerHold: 20_000,
  /** Model calls of an account's active executions. */
  activeItems: 20_000,
  /** Size of an account's holds. Their closing rows need a quarter more, so that every hold can be settled within `accountBytes`. */
  holdBytes: 4 * 1024 * 1024,
  /** Number of rows in the outbox, and their size, above which the outbox is emptied before more commands. */
  outboxRows: 2_000,
  outboxBytes: 2 * 1024 * 1024,
  /** Size of an account's document. A command that would exceed it waits until the outbox is empty. */
  accountBytes: 8 * 1024 * 1024,
  /** Largest single movement: 10 million US dollars. */
  movementMillicredits: 1_000_000_000_000,
  /** Largest balance. Sums of balances stay exact integers. */
  balanceMillicredits: 1_000_000_000_000_000,
  /** Pending alerts per account. */
  pendingAlerts: 1_000,
  /** Open reservations on one value of a default budget. The limit keeps its counter far below 16 MB. */
  reservations: 10_000,
  alertPageAccounts: 100,
  grantRuns: 1_000_000,
  idChars: 200,
  keyChars: 500,
  noteChars: 1_000,
  trialGrants: 1_000,
  ledgerPageRows: 200,
  ledgerPageDefault: 50,
  /** Checkouts that an account can start within 24 hours, paid or not. */
  checkoutsPerDay: 100,
  holdPageAccounts: 1_000,
  holdPageDefault: 200,
  checkpointPageAccounts: 100,
  /** Ledger rows that one query sums, so that it ends long before its time-out. */
  sumRows: 100_000,
  renewalPageAccounts: 1_000,
  renewalPageDefault: 200,
  /** Number of findings after which a check stops and returns a cursor. */
  checkFindings: 1_000,
  /** A run lasts at most 24 hours plus its wait for decisions, so an older hold doesn't belong to an active run. */
  staleHoldMs: (25 + LIMITS.waitingHours) * 3_600_000,
} as const;
