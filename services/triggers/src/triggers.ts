/** Puts schedules and hooks together. */
import type { Logger } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { createApprove } from "./approved";
import { createArrivals } from "./arrivals";
import type { Executions, Identity, Workflows } from "./clients";
import { createReadDelivery } from "./hooks/delivery";
import { createHookStore } from "./hooks/hook-store";
import { createHooks } from "./hooks/hooks";
import { createOwners } from "./owners";
import type { ScheduleCarrier } from "./schedules/carrier";
import { createFiring } from "./schedules/firing";
import { createScheduleReconciler } from "./schedules/reconcile";
import { createScheduleStore } from "./schedules/schedule-store";
import { createSchedules } from "./schedules/schedules";

export interface TriggersOptions {
  /** Has the models. */
  connection: Connection;
  executions: Pick<Executions, "run" | "quote" | "getExecution" | "findUnmoved" | "moveTrigger">;
  identity: Pick<Identity, "getUser" | "resolveKey" | "putSecret" | "readSecrets" | "deleteSecret">;
  workflows: Pick<Workflows, "getDefinition" | "approveGraph">;
  carrier: ScheduleCarrier;
  logger: Logger;
}

export type Triggers = ReturnType<typeof createTriggers>;

export const createTriggers = ({ connection, executions, identity, workflows, carrier, logger }: TriggersOptions) => {
  const store = createScheduleStore(connection);
  const shared = {
    arrivals: createArrivals(connection, executions),
    owners: createOwners({ identity }),
    approve: createApprove(workflows),
    logger,
  };
  const hooks = createHooks({ ...shared, store: createHookStore(connection), identity, workflows });
  return {
    schedules: createSchedules({ ...shared, store, executions, carrier }),
    hooks,
    readDelivery: createReadDelivery(hooks),
    /** Serves a time of a schedule. */
    fire: createFiring({ ...shared, store, executions, carrier }),
    reconcile: createScheduleReconciler({ store, carrier, logger }),
  };
};
