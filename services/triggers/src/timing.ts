const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Every wait of triggers, in milliseconds. Temporal's workflows read it. */
export const TIMING = {
  /** One call of Temporal. */
  temporalCall: 4 * SECOND,
  /** How late a schedule's time is served after Temporal was unreachable; earlier times are skipped. */
  scheduleCatchUp: MINUTE,
  /** How long a schedule's time is tried while services are unreachable, and one attempt at it. */
  scheduledStart: 10 * MINUTE,
  scheduledAttempt: MINUTE,
  /** Planning of a workflow with inputs. */
  quote: 30 * SECOND,
  /** Between two comparisons of schedules with Temporal, and the longest of them. */
  reconcileEvery: 5 * MINUTE,
  reconcile: 4 * MINUTE,
  heartbeat: 10 * SECOND,
} as const;
