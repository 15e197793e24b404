/** Makes the schedules in Temporal match the rows, after either side has lost data. */
import { isDatabaseUnavailable, type Logger } from "@nodeloom/platform";
import type { ReconcileReport } from "../activity-types";
import type { Arrivals } from "../arrivals-store";
import type { TemporalSchedules } from "./temporal-schedules";
import type { ScheduleStore } from "./schedule-store";

export interface ReconcilerOptions {
  store: Pick<ScheduleStore, "active" | "find">;
  arrivals: Pick<Arrivals, "isUnmoved">;
  temporalSchedules: TemporalSchedules;
  logger: Logger;
}

const PAGE = 200;

/** Temporal is read first. A row is written before its schedule, so a schedule without a row has lost its row. */
export const createScheduleReconciler =
  ({ store, arrivals, temporalSchedules, logger }: ReconcilerOptions) =>
  async (beat: () => void): Promise<ReconcileReport> => {
    const runningSchedules = new Map<string, { id: string; isEarlier: boolean }>();
    for await (const { scheduleId, ...name } of temporalSchedules.runningSchedules()) {
      runningSchedules.set(scheduleId, name);
      beat();
    }
    const report: ReconcileReport = { changed: 0, failed: 0 };
    const change = async (scheduleId: string, work: () => Promise<void>): Promise<void> => {
      beat();
      try {
        await work();
        report.changed += 1;
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        report.failed += 1;
        logger.error({ err: error, scheduleId }, "a schedule could not be put right");
      }
    };
    for (let after = "", isLast = false; !isLast;) {
      const rows = await store.active(after, PAGE);
      for (const row of rows)
        if (!runningSchedules.delete(temporalSchedules.idOf(row)))
          await change(temporalSchedules.idOf(row), () => temporalSchedules.begin(row));
      after = rows.at(-1)?._id ?? after;
      isLast = rows.length < PAGE;
    }
    for (const [scheduleId, { id, isEarlier }] of runningSchedules) {
      // If its row hasn't moved yet, executions still needs the schedule.
      const isNeeded = isEarlier && !(await store.find(id)) && (await arrivals.isUnmoved(id));
      if (!isNeeded) await change(scheduleId, () => temporalSchedules.end(scheduleId));
    }
    return report;
  };
