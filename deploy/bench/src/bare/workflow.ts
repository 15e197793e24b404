import { proxyLocalActivities } from "@temporalio/workflow";
import type { BareActivities } from "./activities";

const { step, fetchOnce } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: "10 seconds" });

/** As much as a run needs of Temporal, and nothing else: three local activities in a row. */
export async function threeSteps(input: string): Promise<string> {
  return step(await step(await step(input)));
}

/** The cheapest program that makes an HTTP call durably. */
export async function oneCall(url: string): Promise<string> {
  return fetchOnce(url);
}
