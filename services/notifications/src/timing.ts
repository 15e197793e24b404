/** Waits of webhooks and their workflows, in milliseconds. Waits of emails are in mail/mails.ts. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const TIMING = {
  /** Time limit of one webhook attempt. */
  webhookAttempt: 15 * SECOND,
  /** Time for an attempt's database work. */
  webhookMargin: 10 * SECOND,
  /** Pauses before each webhook attempt. */
  webhookSchedule: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  /** How long an attempt beyond its owner's budget waits for its turn, before it takes another. */
  outgoingWait: 10 * MINUTE,
  /** Temporal's limit for a webhook delivery: longer than the longest pauses that a receiver can request. */
  deliveryAtMost: 8 * 24 * HOUR,
  /** How long a webhook attempt can be overdue before its workflow is started again. */
  lateDelivery: 10 * MINUTE,
  /** Time limit of one email attempt: longer than a mail server can take. */
  mailAttempt: 5 * MINUTE,
  /** Temporal's limit for an email delivery: after it is given up. */
  mailAtMost: 4 * 24 * HOUR,
  /** Longest time without a heartbeat of an activity. */
  heartbeat: 10 * SECOND,
  heartbeatQuick: 5 * SECOND,
  beatsPerTimeout: 3,
  /** Time limit of a short workflow step. */
  localActivity: 10 * SECOND,
  /** Time limit for starting a workflow. */
  startCall: 4 * SECOND,
} as const;

export const DELIVERY_ATTEMPTS = TIMING.webhookSchedule.length;

/**
 * Pause before an attempt: the schedule's, or the receiver's if longer.
 * @param attempt from 1
 */
export const pauseBefore = (attempt: number, retryAfterMs: number | null): number =>
  Math.max(TIMING.webhookSchedule[attempt - 1] ?? 0, retryAfterMs ?? 0);
