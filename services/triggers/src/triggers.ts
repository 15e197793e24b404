/** Wires schedules and hooks. */
import type { Logger } from "@nodeloom/platform";
import { createApprove } from "./approved";
import type { Arrivals } from "./arrivals-store";
import type { Executions, Identity, Workflows } from "./clients";
import { createReadDelivery } from "./hooks/delivery";
import type { HookStore } from "./hooks/hook-store";
import { createHooks } from "./hooks/hooks";
import { createOwners } from "./owners";
import type { TemporalSchedules } from "./schedules/temporal-schedules";
import { createFiring } from "./schedules/firing";
import { createScheduleReconciler } from "./schedules/reconcile";
import type { ScheduleStore } from "./schedules/schedule-store";
import { createSchedules } from "./schedules/schedules";

export interface TriggersOptions {
  stores: { schedules: ScheduleStore; hooks: HookStore };
  arrivals: Arrivals;
  executions: Pick<Executions, "run" | "quote" | "getExecution">;
  identity: Pick<Identity, "getUser" | "resolveKey" | "putSecret" | "readSecrets" | "deleteSecret">;
  workflows: Pick<Workflows, "getDefinition" | "approveGraph">;
  temporalSchedules: TemporalSchedules;
  logger: Logger;
}

export type Triggers = ReturnType<typeof createTriggers>;

export const createTriggers = ({ stores, arrivals, executions, identity, workflows, temporalSchedules, logger }: TriggersOptions) => {
  const store = stores.schedules;
  const shared = {
    arrivals,
    owners: createOwners({ identity }),
    approve: createApprove(workflows),
    logger,
  };
  const hooks = createHooks({ ...shared, store: stores.hooks, identity, workflows });
  return {
    schedules: createSchedules({ ...shared, store, executions, temporalSchedules }),
    hooks,
    readDelivery: createReadDelivery(hooks),
    fire: createFiring({ ...shared, store, executions, temporalSchedules }),
    reconcile: createScheduleReconciler({ store, arrivals, temporalSchedules, logger }),
  };
};
