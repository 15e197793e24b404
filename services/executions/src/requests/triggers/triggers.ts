/** Puts schedules and hooks together. */
import type { Logger } from "@nodeloom/platform";
import type { ScheduleCarrier } from "../../carry/schedules";
import type { Identity, Workflows } from "../../clients";
import type { Planning } from "../../plan/planning";
import type { Stores } from "../../store/stores";
import type { Runs } from "../runs";
import { createApprove } from "./approved";
import { createReadDelivery } from "./delivery";
import { createFiring } from "./firing";
import { createHooks } from "./hooks";
import { createOwners } from "./owner";
import { createSchedules } from "./schedules";

export interface TriggersOptions {
  stores: Pick<Stores, "rows" | "schedules" | "hooks">;
  identity: Pick<Identity, "getUser" | "resolveKey" | "putSecret" | "readSecrets" | "deleteSecret">;
  workflows: Pick<Workflows, "getDefinition" | "approveGraph">;
  planning: Pick<Planning, "plan">;
  runs: Pick<Runs, "run">;
  carrier: ScheduleCarrier;
  logger: Logger;
}

export type Triggers = ReturnType<typeof createTriggers>;

export const createTriggers = ({ stores, identity, workflows, planning, runs, carrier, logger }: TriggersOptions) => {
  const owners = createOwners({ identity });
  const approve = createApprove(workflows);
  const hooks = createHooks({ stores, owners, identity, workflows, approve, logger });
  return {
    schedules: createSchedules({ stores, owners, planning, approve, carrier, logger }),
    hooks,
    readDelivery: createReadDelivery(hooks),
    /** What Temporal's schedules of users do. */
    startScheduled: createFiring({ stores, owners, run: runs.run, carrier, logger }),
  };
};
