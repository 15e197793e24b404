import { proxyLocalActivities } from "@temporalio/workflow";
import type { BareActivities } from "./bare-temporal";

const { step } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: "10 seconds" });

/** As much as a run needs of Temporal, and nothing else: three local activities in a row. */
export async function threeSteps(input: string): Promise<string> {
  return step(await step(await step(input)));
}
