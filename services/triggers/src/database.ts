import { defineDatabase, FIRST_VERSION, takeRow, temporalServer, temporalVariables, unmovedIds } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { createArrive, MOVED } from "./arrivals";
import { createHookStore } from "./hooks/hook-store";
import { createScheduleStore } from "./schedules/schedule-store";
import { TIMING } from "./timing";
import type { reconcileSchedules } from "./workflows";

export const queueOf = ({ TEMPORAL_TASK_QUEUE }: { TEMPORAL_TASK_QUEUE: string }): string => `${TEMPORAL_TASK_QUEUE}-triggers`;

const RECONCILE: keyof { reconcileSchedules: typeof reconcileSchedules } = "reconcileSchedules";

/** Moves the rows that 1.0.0 stored at executions. */
const moveRows = async (own: Connection, executions: Connection): Promise<number> => {
  const arrive = createArrive(own);
  let moved = 0;
  for (const name of MOVED) {
    const rows = executions.collection<{ _id: string; slot: number }>(name);
    for await (const id of unmovedIds(rows)) moved += Number(await arrive(name, id, (moveId) => takeRow(rows, id, moveId)));
  }
  return moved;
};

/** Schedules and hooks; and in Temporal the comparison of schedules. The version goes up with every change of any of them. */
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
  fill: { from: "executions", move: moveRows },
});
