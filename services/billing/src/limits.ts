import { LIMITS } from "@nodeloom/kernel";

/** Every bound of billing, in one place. */
export const BILLING_LIMITS = {
  /** Generator calls of one execution. */
  itemsPerHold: 5_000,
  /** Generator calls of all active executions of one account; keeps its document far below 16 MB. */
  activeItems: 20_000,
  /** Undrained ledger rows from which on an account drains before it takes more commands. */
  outboxRows: 2_000,
  /** Largest single movement: 10 million US dollars. */
  movementMillicredits: 1_000_000_000_000,
  /** Largest balance; sums of balances stay exact integers. */
  balanceMillicredits: 1_000_000_000_000_000,
  /** Alerts of budgets that wait to be passed on, of one account. */
  pendingAlerts: 1_000,
  /** Accounts whose alerts are passed on at once. */
  alertPageAccounts: 100,
  grantRuns: 1_000_000,
  idChars: 200,
  keyChars: 500,
  noteChars: 1_000,
  trialGrants: 1_000,
  ledgerPageRows: 200,
  ledgerPageDefault: 50,
  /** Purchases that an account may begin in 24 hours, paid or not. */
  checkoutsPerDay: 100,
  holdPageAccounts: 1_000,
  holdPageDefault: 200,
  checkpointPageAccounts: 100,
  renewalPageAccounts: 1_000,
  renewalPageDefault: 200,
  /** Findings of one check of the ledger; beyond them it stops, and says where to go on. */
  checkFindings: 1_000,
  /** A run takes 24 hours at most, and waits for decisions besides: a hold this old belongs to none that is under way. */
  staleHoldMs: (25 + LIMITS.waitingHours) * 3_600_000,
} as const;
