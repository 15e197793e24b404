import { sleep } from "@temporalio/workflow";
import type { AlertDelivery } from "../activity-types";
import { sendAlert } from "./steps";

/** Delivers a budget alert to the webhook of one key, with growing pauses. */
export async function deliverAlert(alert: AlertDelivery): Promise<void> {
  for (let next = await sendAlert(alert, 1); next !== null; next = await sendAlert(alert, next.attempt)) {
    if (next.pauseMs > 0) await sleep(next.pauseMs, { summary: `before attempt ${next.attempt}` });
  }
}
