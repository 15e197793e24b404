/** The workflows of leaving: the archive of an account, and its erasure. Every step may be repeated, and so may the whole. */
import { sleep } from "@temporalio/workflow";
import { TIMING } from "../../run/timing";
import type { ErasureReport } from "../activity-types";
import { beginErasure, buildExport, endErasure, endUnderWay, eraseEverywhere } from "./steps";

/** Most runs end within that. */
const QUICK_LOOKS = 30;

/** Makes the archive of an account, in the place of the one before. */
export async function exportAccount(userId: string): Promise<void> {
  await buildExport(userId);
}

/**
 * Erases an account. From its first step on nobody can sign in. Then schedules, hooks, batches and runs end; then everything is
 * erased, twice: what was written while that went on is found the second time.
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
