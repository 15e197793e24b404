/** Sets up what Temporal must have before runs are started: schedules and search attributes. */
import { Client, ScheduleAlreadyRunning, type ScheduleOptions, type ScheduleUpdateOptions, Connection } from "@temporalio/client";
import { TIMING } from "../run/timing";
import type { checkWholeLedger, reconcileRuns, removeExpired, renewPlans } from "./workflows";
import { temporal } from "@temporalio/proto";
import { STARTUP_PATIENCE_MS, type TemporalSecurity } from "@nodeloom/platform";
import { SEARCH_ATTRIBUTES } from "./names";

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

const INDEXED = temporal.api.enums.v1.IndexedValueType;
const INDEXED_TYPES = { KEYWORD: INDEXED.INDEXED_VALUE_TYPE_KEYWORD, KEYWORD_LIST: INDEXED.INDEXED_VALUE_TYPE_KEYWORD_LIST };

type Operator = Pick<Connection, "operatorService">;

export const missingSearchAttributes = async ({ operatorService }: Operator, namespace: string) => {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  return SEARCH_ATTRIBUTES.filter(({ name }) => !(name in (customAttributes ?? {})));
};

const ensureSearchAttributes = async (connection: Operator, namespace: string): Promise<void> => {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_TYPES[type]])),
  });
};

export interface PrepareOptions {
  address: string;
  security?: TemporalSecurity;
  namespace: string;
  taskQueue: string;
}

/** Makes sure of the search attributes that runs carry, and of the schedules, on the queue where runs are started. Waits for Temporal. */
export const prepareTemporal = async ({ address, security, namespace, taskQueue }: PrepareOptions): Promise<void> => {
  const connection = await Connection.connect({ address, connectTimeout: STARTUP_PATIENCE_MS, ...security });
  try {
    await ensureSearchAttributes(connection, namespace);
    await ensureSchedules(new Client({ connection, namespace }), taskQueue);
  } finally {
    await connection.close();
  }
};
