import { durationHistogram, eventCounter } from "@nodeloom/platform";

/** Metrics of webhooks: outcomes, never ids of users, runs or receivers. Metrics of emails are in mail/meters.ts. */

const attempts = durationHistogram("nodeloom.webhook.attempt.duration", "attempts at webhooks, by outcome");
/** Only for a run's first delivery, because redeliveries have no target time. */
export const noteFirstAttempt = durationHistogram(
  "nodeloom.webhook.first_attempt.age",
  "from the end of a run to the first attempt at its webhook",
);
const deliveries = eventCounter("nodeloom.webhook.deliveries", "deliveries of webhooks that ended, by outcome");
const outgoingWaits = eventCounter(
  "nodeloom.outgoing.over_budget",
  "calls to addresses of users that were too many in a minute, by kind and outcome",
);

export const countWebhookAttempt = (outcome: "delivered" | "refused" | "no answer", durationMs: number): void =>
  attempts(durationMs, { outcome });
export const countDelivery = (outcome: string): void => deliveries({ outcome });
export const countPostponed = (): void => outgoingWaits({ kind: "webhook", outcome: "waited" });
