import { proxyLocalActivities } from "@temporalio/workflow";
import type { BareActivities } from "./activities";

const { step, fetchOnce } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: "10 seconds" });

/** The Temporal part of a run: three local activities in a row. */
export async function threeSteps(input: string): Promise<string> {
  return step(await step(await step(input)));
}

/** Baseline: the cheapest durable HTTP call. */
export async function oneCall(url: string): Promise<string> {
  return fetchOnce(url);
}
