/** Activities of the worker. Temporal stores their results. */
import { Context } from "@temporalio/activity";
import type { Activities } from "./activity-types";
import type { Triggers } from "./triggers";

export const createActivities = ({ fire, reconcile }: Pick<Triggers, "fire" | "reconcile">): Activities => ({
  startScheduled: async (scheduleId, at) => {
    const time = await fire(scheduleId, new Date(at));
    return time && { outcome: time.outcome, executionId: time.executionId, code: time.code };
  },
  reconcile: () => reconcile(() => Context.current().heartbeat()),
});
