const [KIB, MIB] = [1024, 1024 * 1024];

/** Bounds of schedules and hooks. */
export const TRIGGER_BOUNDS = {
  /** Maximum size of a schedule's stored inputs, as JSON. */
  inputsBytes: 256 * KIB,
  cronChars: 200,
  timezoneChars: 60,
  /** Number of upcoming times shown for a schedule. */
  nextTimes: 5,
  /** Number of consecutive runs without enough credits after which a schedule stops. */
  unpaidTimes: 3,
  /** Maximum body of a hook delivery. */
  deliveryBytes: MIB,
  /** Maximum length of the sender's id for a delivery. */
  deliveryIdChars: 255,
  headerChars: 100,
  signatureSecretChars: 1_000,
} as const;
