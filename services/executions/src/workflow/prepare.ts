/** Creates the schedules and search attributes that Temporal needs before runs start. */
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "@temporalio/client";
import { TIMING } from "../run/timing";
import type { checkWholeLedger, reconcileRuns, removeExpired, renewPlans, tellOfRetiringModels } from "./workflows";
import { temporal } from "@temporalio/proto";
import type { Logger } from "@nodeloom/platform";
import { ensureSchedules, withTemporal, type PlatformSchedule, type TemporalServer } from "@nodeloom/platform/temporal";
import { SEARCH_ATTRIBUTES } from "./names";

/** Schedules of the platform's periodic work. */
export const SCHEDULES = [
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
    // If a start is missed while Temporal is unavailable, it happens as soon as Temporal is available again.
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
  {
    id: "retiring-models",
    workflow: "tellOfRetiringModels" satisfies keyof { tellOfRetiringModels: typeof tellOfRetiringModels },
    everyMs: TIMING.retiringEvery,
    catchUpMs: TIMING.retiringEvery,
    note: "Sends notices of models that providers shut down in 30 or 7 days",
  },
] as const satisfies readonly PlatformSchedule[];

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

const LOOK_PAUSE_MS = 1_000;
const LOOKS_PER_LINE = 10;
const MAX_LOOKS = 600;

/** Resolves when Temporal knows the search attributes. A new installation may need a moment. */
export const untilPrepared = async (connection: Operator, namespace: string, logger: Logger): Promise<void> => {
  for (let looks = 0; ; looks += 1) {
    const missing = await missingSearchAttributes(connection, namespace);
    if (missing.length === 0) return;
    if (looks === MAX_LOOKS) throw new Error("Temporal lacks the search attributes of runs: run `node services/migrate executions`");
    if (looks % LOOKS_PER_LINE === 0)
      logger.warn({ missing: missing.map(({ name }) => name) }, "waiting for Temporal: run `node services/migrate executions`");
    await delay(LOOK_PAUSE_MS);
  }
};

/** Ensures that the search attributes and the schedules exist. Schedules start workflows on the queue of runs. Waits for Temporal. */
export const prepareTemporal = ({ taskQueue, ...server }: TemporalServer & { taskQueue: string }): Promise<void> =>
  withTemporal(server, async (client) => {
    await ensureSearchAttributes(client.connection as Connection, server.namespace);
    await ensureSchedules(client, taskQueue, SCHEDULES);
  });
