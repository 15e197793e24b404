const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Times of triggers in milliseconds. Temporal's workflows read them. */
export const TIMING = {
  temporalCall: 4 * SECOND,
  /** How late Temporal still runs a schedule's time after an outage. Earlier times are skipped. */
  scheduleCatchUp: MINUTE,
  /** How long a schedule's time is retried while services are unavailable. It is also the deadline of one attempt. */
  scheduledStart: 10 * MINUTE,
  scheduledAttempt: MINUTE,
  /** Deadline of planning a workflow with inputs. */
  quote: 30 * SECOND,
  /** Interval of reconciliations with Temporal. It is also the deadline of one reconciliation. */
  reconcileEvery: 5 * MINUTE,
  reconcile: 4 * MINUTE,
  heartbeat: 10 * SECOND,
} as const;
