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
// Recording is separate from sending, so that an unavailable store doesn't repeat the delivery.
export const { recordAttempt } = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: TIMING.localActivity,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: "1 minute" },
  // Longer pauses become workflow timers, so that an outage doesn't occupy the worker.
  localRetryThreshold: "2s",
});
export const { sendMail } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.mailAttempt,
  heartbeatTimeout: TIMING.heartbeat,
  retry: minutely,
});
