import { defineDatabase, FIRST_VERSION, temporalServer, temporalVariables } from "@nodeloom/platform";
import { moveAll } from "./arrivals-store";
import { createHookStore } from "./hooks/hook-store";
import { createScheduleStore } from "./schedules/schedule-store";
import { TIMING } from "./timing";
import type { reconcileSchedules } from "./workflows";

export const queueOf = ({ TEMPORAL_TASK_QUEUE }: { TEMPORAL_TASK_QUEUE: string }): string => `${TEMPORAL_TASK_QUEUE}-triggers`;

const RECONCILE: keyof { reconcileSchedules: typeof reconcileSchedules } = "reconcileSchedules";

/** Schedules and hooks, and the reconciliation schedule in Temporal. Raise the version with every change. */
export const database = defineDatabase({
  service: "triggers",
  version: FIRST_VERSION,
  declare: (connection) => void [createScheduleStore(connection), createHookStore(connection)],
  variables: temporalVariables,
  others: async (config) => {
    const { ensureSchedules, withTemporal } = await import("@nodeloom/platform/temporal");
    const schedule = {
      ...{ id: "reconcile-schedules", workflow: RECONCILE, everyMs: TIMING.reconcileEvery, catchUpMs: TIMING.scheduleCatchUp },
      note: "Makes Temporal carry the schedules that rows say, and no others",
    };
    await withTemporal(temporalServer(config), (client) => ensureSchedules(client, queueOf(config), [schedule]));
  },
  fill: { from: "executions", move: moveAll },
});
