const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Waits of triggers in milliseconds. Temporal's workflows read them. */
export const TIMING = {
  /** One call to Temporal. */
  temporalCall: 4 * SECOND,
  /** How late a schedule's time is served after Temporal was unreachable; earlier times are skipped. */
  scheduleCatchUp: MINUTE,
  /** How long a schedule's time is retried while services are unavailable, and the limit of one attempt. */
  scheduledStart: 10 * MINUTE,
  scheduledAttempt: MINUTE,
  /** Planning a workflow with inputs. */
  quote: 30 * SECOND,
  /** Interval between reconciliations with Temporal, and the limit of one. */
  reconcileEvery: 5 * MINUTE,
  reconcile: 4 * MINUTE,
  heartbeat: 10 * SECOND,
} as const;
