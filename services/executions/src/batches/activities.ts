import { Context } from "@temporalio/activity";
import { TIMING } from "../run/timing";
import type { BatchActivities } from "../workflow/activity-types";

export interface BatchWork {
  /** Processes a batch for one turn. The turn ends when the signal fires, or earlier. */
  carry(batchId: string, stopping: AbortSignal): Promise<"over" | "again">;
  /** @returns the pause before the next attempt, or null if there is no next attempt */
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
