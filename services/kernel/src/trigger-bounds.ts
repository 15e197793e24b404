const [KIB, MIB] = [1024, 1024 * 1024];

/** Every bound of schedules and hooks. */
export const TRIGGER_BOUNDS = {
  /** Schedules of one account. */
  schedules: 20,
  /** Hooks of one account. */
  hooks: 20,
  /** Inputs that a schedule keeps, as JSON. */
  inputsBytes: 256 * KIB,
  cronChars: 200,
  timezoneChars: 60,
  /** Times ahead that a schedule is shown with. */
  nextTimes: 5,
  /** Times in a row that may be refused for want of credits before a schedule stops. */
  unpaidTimes: 3,
  /** What a sender may send to a hook. */
  deliveryBytes: MIB,
  /** Of the sender's id of a delivery. */
  deliveryIdChars: 255,
  headerChars: 100,
  signatureSecretChars: 1_000,
} as const;
