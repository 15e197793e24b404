import { proxyActivities, proxyLocalActivities, sleep } from "@temporalio/workflow";
import { DELIVERY_ATTEMPTS, FIRST_DELIVERY, pauseBefore, type DeliveryEnd } from "../../contract/delivery";
import { TIMING } from "../../contract/timing";
import type { Activities, DeliveryInput, LocalActivities } from "../../contract/activity-types";

const MARGIN_MS = 10_000;

const { sendWebhook } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.webhookAttempt + MARGIN_MS,
  heartbeatTimeout: TIMING.heartbeatQuick,
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});

// Recorded apart from sending, so that a store that is away does not make the receiver hear it again.
const { recordAttempt } = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: TIMING.localActivity,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: "1 minute" },
  localRetryThreshold: "2s",
});

/** Delivers one execution's webhook, with pauses that grow; the receiver's Retry-After lengthens them. */
export async function deliverWebhook({ executionId, keyId, delivery = FIRST_DELIVERY }: DeliveryInput): Promise<DeliveryEnd> {
  let askedFor: number | null = null;
  for (let attempt = 1; attempt <= DELIVERY_ATTEMPTS; attempt += 1) {
    const pause = pauseBefore(attempt, askedFor);
    if (pause > 0) await sleep(pause, { summary: `before attempt ${attempt}` });
    const id = { executionId, keyId, delivery, attempt };
    const sent = await sendWebhook.executeWithOptions({ summary: `attempt ${attempt}` }, [id]);
    const end = await recordAttempt(id, sent);
    if (end !== null) return end;
    askedFor = "nothing" in sent ? null : sent.retryAfterMs;
  }
  return "given up";
}
