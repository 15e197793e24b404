const [KIB, MIB] = [1024, 1024 * 1024];

/** Bounds of schedules and hooks. */
export const TRIGGER_BOUNDS = {
  /** Stored inputs of a schedule, as JSON. */
  inputsBytes: 256 * KIB,
  cronChars: 200,
  timezoneChars: 60,
  /** Upcoming times shown for a schedule. */
  nextTimes: 5,
  /** Consecutive runs without enough credits before a schedule stops. */
  unpaidTimes: 3,
  /** Body of a delivery. */
  deliveryBytes: MIB,
  /** The sender's id of a delivery. */
  deliveryIdChars: 255,
  headerChars: 100,
  signatureSecretChars: 1_000,
} as const;
