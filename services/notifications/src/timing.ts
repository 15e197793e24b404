/** Times of webhooks and their workflows, in milliseconds. Times of emails are in mail/mails.ts. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const TIMING = {
  /** Deadline of one webhook attempt. */
  webhookAttempt: 15 * SECOND,
  /** Additional time for an attempt's database work. */
  webhookMargin: 10 * SECOND,
  /** Pauses before each webhook attempt. */
  webhookSchedule: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  /** How long an attempt that exceeds its owner's limit waits for its turn before another attempt is made. */
  outgoingWait: 10 * MINUTE,
  /** Temporal's deadline for a webhook delivery. It is longer than all pauses that a receiver can request. */
  deliveryAtMost: 8 * 24 * HOUR,
  /** How overdue a webhook attempt must be before its workflow is started again. */
  lateDelivery: 10 * MINUTE,
  /** Deadline of one email attempt. It is longer than a mail server can take. */
  mailAttempt: 5 * MINUTE,
  /** Temporal's deadline for an email delivery. Sending is abandoned before this deadline. */
  mailAtMost: 4 * 24 * HOUR,
  /** Heartbeat timeout of an activity. */
  heartbeat: 10 * SECOND,
  heartbeatQuick: 5 * SECOND,
  beatsPerTimeout: 3,
  /** Deadline of a short workflow step. */
  localActivity: 10 * SECOND,
  /** Deadline for starting a workflow. */
  startCall: 4 * SECOND,
} as const;

export const DELIVERY_ATTEMPTS = TIMING.webhookSchedule.length;

/**
 * Returns the pause before an attempt: the scheduled pause, or the receiver's pause if it is longer.
 * @param attempt number of the attempt, starting at 1
 */
export const pauseBefore = (attempt: number, retryAfterMs: number | null): number =>
  Math.max(TIMING.webhookSchedule[attempt - 1] ?? 0, retryAfterMs ?? 0);
