import { sleep } from "@temporalio/workflow";
import type { DeliveryEnd } from "../delivery";
import type { DeliveryInput } from "../webhooks/deliveries";
import { recordAttempt, sendWebhook } from "./steps";

/** Delivers one message to a webhook with growing pauses. Its activities decide when the delivery ends. */
export async function deliverWebhook(id: string, { delivery, attempt: first, pauseMs }: Omit<DeliveryInput, "id">): Promise<DeliveryEnd> {
  for (let attempt = first, pause = pauseMs; ; attempt += 1) {
    if (pause > 0) await sleep(pause, { summary: `before attempt ${attempt}` });
    const attemptId = { id, delivery, attempt };
    const attemptResult = await sendWebhook.executeWithOptions({ summary: `attempt ${attempt}` }, [attemptId]);
    const step = await recordAttempt(attemptId, attemptResult);
    if ("end" in step) return step.end;
    pause = step.pauseMs;
  }
}
