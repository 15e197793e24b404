import { proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import { TIMING } from "../timing";
import type { Activities, LocalActivities } from "./activities";

/** Activities of workflows with their time limits and retries. */

const minutely = { initialInterval: "1s", maximumInterval: "1 minute" } as const;

export const { sendWebhook } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.webhookAttempt + TIMING.webhookMargin,
  heartbeatTimeout: TIMING.heartbeatQuick,
  retry: minutely,
});
// Recorded apart from sending: an unavailable store must not make the receiver get the message again.
export const { recordAttempt } = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: TIMING.localActivity,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: "1 minute" },
  // Longer pauses are workflow timers, so that an outage doesn't occupy the worker.
  localRetryThreshold: "2s",
});
export const { sendMail } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.mailAttempt,
  heartbeatTimeout: TIMING.heartbeat,
  retry: minutely,
});
