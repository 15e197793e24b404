/** Workflows of archives and erasures. Every step and the whole workflow are safe to repeat. */
import { sleep } from "@temporalio/workflow";
import { TIMING } from "../../run/timing";
import type { ErasureReport } from "../activity-types";
import { beginErasure, buildExport, endErasure, endUnderWay, eraseEverywhere } from "./steps";

/** Most runs end within this number of checks. */
const QUICK_LOOKS = 30;

/** Replaces an account's archive. */
export async function exportAccount(userId: string): Promise<void> {
  await buildExport(userId);
}

/**
 * Erases an account. The first step blocks signing in. Then schedules, hooks, batches and runs end. Then all data is erased in two passes;
 * the second pass erases data written during the first.
 */
export async function eraseAccount(userId: string): Promise<ErasureReport> {
  await beginErasure(userId);
  for (let looks = 0; (await endUnderWay(userId)) > 0; looks += 1)
    await sleep(looks < QUICK_LOOKS ? TIMING.endingLook : TIMING.minute, { summary: "before another look at what ends" });
  const erased = await eraseEverywhere(userId);
  const late = await eraseEverywhere(userId);
  await endErasure(userId);
  return { erased, late };
}
