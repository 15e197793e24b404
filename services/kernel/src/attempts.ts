/**
 * Maximum attempts of a conditional update. An attempt fails only if another writer succeeded. After the last attempt the caller gets a
 * retryable error.
 */
export const CONFLICT_ATTEMPTS = {
  workflow: 200,
  publication: 50,
  account: 60,
  user: 20,
  organization: 20,
  apiKey: 50,
  trigger: 50,
  signIn: 3,
  mediaRemoval: 20,
  usageRow: 3,
  usageTotals: 5,
  line: 50,
  cancellation: 5,
  decision: 20,
  /** A workflow from an earlier attempt may still be closing. */
  workflowStart: 5,
  log: 10,
  /** Ending a run conflicts with archiving its log. */
  runEnd: 50,
} as const;
