/**
 * How often a change is tried that others may be in the way of: each attempt that fails means that another change succeeded.
 * Whoever has made that many tells the caller to come back.
 */
export const CONFLICT_ATTEMPTS = {
  /** A workflow is changed, or takes a free slug. */
  workflow: 200,
  /** A version takes the next number. */
  publication: 50,
  /** An account's commands are written. */
  account: 60,
  user: 20,
  /** An organization's members or invitations change. */
  organization: 20,
  /** A key takes one of its owner's slots. */
  apiKey: 50,
  /** A schedule or hook takes one of its owner's places, or is changed. */
  trigger: 50,
  /** A sign-in is counted. */
  signIn: 3,
  mediaRemoval: 20,
  /** A run's usage row is inserted or made final. */
  usageRow: 3,
  /** Usage is read while rows move into its totals. */
  usageTotals: 5,
  /** A run arrives in its user's line, or leaves it. */
  line: 50,
  cancellation: 5,
  /** A run is decided on while other decisions of it are written. */
  decision: 20,
  /** A run's workflow is started while an earlier attempt's is still ending. */
  workflowStart: 5,
  /** Progress is written to a run's log. */
  log: 10,
  /** A run's end is written while the last of its log is put away. */
  runEnd: 50,
} as const;
