import { proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import { TIMING } from "../timing";
import type { Activities, LocalActivities } from "./activities";

/** Every step that workflows take outside, with the time that it can take and how it is tried again. */

const minutely = { initialInterval: "1s", maximumInterval: "1 minute" } as const;

export const { sendWebhook } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.webhookAttempt + TIMING.webhookMargin,
  heartbeatTimeout: TIMING.heartbeatQuick,
  retry: minutely,
});
// Recorded apart from sending, so that a store that is away does not make the receiver hear it again.
export const { recordAttempt } = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: TIMING.localActivity,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: "1 minute" },
  // Longer pauses are timers of the workflow, so that an outage does not hold the worker.
  localRetryThreshold: "2s",
});
export const { sendMail } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.mailAttempt,
  heartbeatTimeout: TIMING.heartbeat,
  retry: minutely,
});
