import { sleep } from "@temporalio/workflow";
import { DELIVERY_ATTEMPTS, FIRST_DELIVERY, pauseBefore, type DeliveryEnd } from "../../run/delivery";
import type { DeliveryInput } from "../activity-types";
import { recordAttempt, sendWebhook } from "./steps";

/** Delivers one execution's webhook with growing pauses. The receiver's Retry-After lengthens them. */
export async function deliverWebhook({ executionId, keyId, delivery = FIRST_DELIVERY, nodeId }: DeliveryInput): Promise<DeliveryEnd> {
  let askedFor: number | null = null;
  for (let attempt = 1; attempt <= DELIVERY_ATTEMPTS; attempt += 1) {
    const pause = pauseBefore(attempt, askedFor);
    if (pause > 0) await sleep(pause, { summary: `before attempt ${attempt}` });
    const id = { executionId, keyId, delivery, attempt, ...(nodeId === undefined ? {} : { nodeId }) };
    const attemptResult = await sendWebhook.executeWithOptions({ summary: `attempt ${attempt}` }, [id]);
    const end = await recordAttempt(id, attemptResult);
    if (end !== null) return end;
    askedFor = "nothing" in attemptResult ? null : attemptResult.retryAfterMs;
  }
  return "given up";
}
