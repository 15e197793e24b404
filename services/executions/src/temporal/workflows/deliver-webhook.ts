import { proxyActivities, sleep } from "@temporalio/workflow";
import { TIMING } from "../../timing";
import type { Activities, DeliveryInput } from "../activity-types";

const MARGIN_MS = 10_000;

const { deliver } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.webhookAttempt + MARGIN_MS,
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});

/** Delivers one execution's webhook, with pauses that grow; the receiver's Retry-After lengthens them. */
export async function deliverWebhook(input: DeliveryInput): Promise<"delivered" | "given up"> {
  let askedFor = 0;
  for (const pause of TIMING.webhookSchedule) {
    const wait = Math.max(pause, askedFor);
    if (wait > 0) await sleep(wait);
    const result = await deliver(input);
    if (result.done) return "delivered";
    askedFor = result.retryAfterMs ?? 0;
  }
  return "given up";
}
