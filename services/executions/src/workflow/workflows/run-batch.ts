/** Workflow of a batch: processes the batch in turns, then sends the webhook. The progress is in the database. */
import { continueAsNew, sleep } from "@temporalio/workflow";
import { announceBatch, carryBatch } from "./steps";

/** Processes a batch until it has ended or is paused, and announces its end. */
export async function runBatch(batchId: string): Promise<void> {
  if ((await carryBatch(batchId)) === "again") return continueAsNew<typeof runBatch>(batchId);
  for (let pauseMs = await announceBatch(batchId); pauseMs !== null; pauseMs = await announceBatch(batchId)) {
    if (pauseMs > 0) await sleep(pauseMs, { summary: "before the next attempt at its webhook" });
  }
}
