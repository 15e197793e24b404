/**
 * How often a conditional update is retried. Every failed attempt means that another writer succeeded. After the last attempt the caller
 * gets a retryable error.
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
  /** The workflow of an earlier attempt can still be closing. */
  workflowStart: 5,
  log: 10,
  /** The end of a run competes with the archiving of its log. */
  runEnd: 50,
} as const;
