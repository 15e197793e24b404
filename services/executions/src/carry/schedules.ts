import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, type ScheduleUpdateOptions } from "@temporalio/client";
import { TIMING } from "../run/timing";
import type { checkWholeLedger, reconcileRuns, removeExpired, renewPlans } from "./workflows";

/** What is done again and again: one workflow at a time over all processes, seen under Schedules in Temporal's UI. */
const SCHEDULES = [
  {
    id: "reconcile-runs",
    workflow: "reconcileRuns" satisfies keyof { reconcileRuns: typeof reconcileRuns },
    everyMs: TIMING.reconcileEvery,
    catchUpMs: TIMING.minute,
    note: "Ends recorded runs, goes on with deliveries, and closes holds that nothing carries any more",
  },
  {
    id: "plan-renewals",
    workflow: "renewPlans" satisfies keyof { renewPlans: typeof renewPlans },
    everyMs: TIMING.renewEvery,
    // One that was missed while Temporal was away is made up for at once.
    catchUpMs: TIMING.renewEvery,
    note: "Renews the plans of accounts whose month is over",
  },
  {
    id: "retention",
    workflow: "removeExpired" satisfies keyof { removeExpired: typeof removeExpired },
    everyMs: TIMING.retentionEvery,
    catchUpMs: TIMING.retentionEvery,
    note: "Removes what was kept long enough",
  },
  {
    id: "ledger-check",
    workflow: "checkWholeLedger" satisfies keyof { checkWholeLedger: typeof checkWholeLedger },
    everyMs: TIMING.ledgerEvery,
    catchUpMs: TIMING.ledgerEvery,
    note: "Checks every account against all of its rows",
  },
] as const;

const optionsOf = ({ workflow, everyMs, catchUpMs, note }: (typeof SCHEDULES)[number], taskQueue: string) => ({
  spec: { intervals: [{ every: everyMs }] },
  action: { type: "startWorkflow" as const, workflowType: workflow, taskQueue, workflowExecutionTimeout: everyMs },
  policies: { overlap: "SKIP" as const, catchupWindow: catchUpMs },
  state: { note },
});

/** Makes sure that every schedule exists and is as the code says; its id begins with the queue's name. A paused one stays paused. */
export const ensureSchedules = async (client: Client, taskQueue: string): Promise<void> => {
  await Promise.all(
    SCHEDULES.map(async (schedule) => {
      const options = optionsOf(schedule, taskQueue);
      const scheduleId = `${taskQueue}-${schedule.id}`;
      try {
        await client.schedule.create({ scheduleId, ...options } satisfies ScheduleOptions);
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        await client.schedule
          .getHandle(scheduleId)
          .update(({ state }): ScheduleUpdateOptions => ({ ...options, state: { ...state, note: schedule.note } }));
      }
    }),
  );
};
