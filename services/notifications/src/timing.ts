/** Waits of webhooks and of their workflows; those of mails are in mail/mails.ts. Milliseconds. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const TIMING = {
  /** One attempt at a webhook. */
  webhookAttempt: 15 * SECOND,
  /** What an attempt reads and writes beside its request. */
  webhookMargin: 10 * SECOND,
  /** Pauses before each attempt at a webhook. */
  webhookSchedule: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  /** How long an attempt that is too many for its owner's budget waits for its turn, before it takes another. */
  outgoingWait: 10 * MINUTE,
  /** When Temporal itself ends the delivery of a webhook: after the longest pauses that a receiver can ask for. */
  deliveryAtMost: 8 * 24 * HOUR,
  /** How long an attempt at a webhook can be due before its workflow is started again, unless it runs. */
  lateDelivery: 10 * MINUTE,
  /** One attempt at a mail: longer than a mail server can take. */
  mailAttempt: 5 * MINUTE,
  /** When Temporal itself ends the delivery of a mail: after it is given up. */
  mailAtMost: 4 * 24 * HOUR,
  /** How long an activity can go without a heartbeat. */
  heartbeat: 10 * SECOND,
  heartbeatQuick: 5 * SECOND,
  beatsPerTimeout: 3,
  /** A short step of a workflow. */
  localActivity: 10 * SECOND,
  /** What starting a workflow can take. */
  startCall: 4 * SECOND,
} as const;

export const DELIVERY_ATTEMPTS = TIMING.webhookSchedule.length;

/** The pause before an attempt: the schedule's, or longer if the receiver asked for that. @param attempt from 1 */
export const pauseBefore = (attempt: number, retryAfterMs: number | null): number =>
  Math.max(TIMING.webhookSchedule[attempt - 1] ?? 0, retryAfterMs ?? 0);
