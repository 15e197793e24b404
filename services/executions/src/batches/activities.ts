import { Context } from "@temporalio/activity";
import { TIMING } from "../run/timing";
import type { BatchActivities } from "../workflow/activity-types";

export interface BatchWork {
  /** Takes a turn at a batch, which ends at the latest when the signal fires. */
  carry(batchId: string, stopping: AbortSignal): Promise<"over" | "again">;
  /** @returns the pause before another attempt; null where there is none */
  announce(batchId: string): Promise<number | null>;
  stopping: AbortSignal;
}

export const createBatchActivities = ({ carry, announce, stopping }: BatchWork): BatchActivities => ({
  carryBatch: async (batchId) => {
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(), TIMING.heartbeat / TIMING.beatsPerTimeout);
    try {
      return await carry(batchId, AbortSignal.any([stopping, context.cancellationSignal]));
    } finally {
      clearInterval(beat);
    }
  },
  announceBatch: announce,
});
