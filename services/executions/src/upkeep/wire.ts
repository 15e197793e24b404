import { startRelay, type Logger } from "@nodeloom/platform";
import type { Services } from "../clients";
import type { Lifecycle } from "../lifecycle/wire";
import type { HandOver } from "../webhooks/hand-over";
import { createUpkeepActivities } from "../workflow/upkeep-activities";
import type { FailingTasks } from "../workflow/failing-tasks";
import { createEarlierMessages } from "./earlier-messages";
import { createRelayed, type RelayedOptions } from "./relay";
import { startStuckWatch } from "./stuck";
import { createUpkeep, type UpkeepParts } from "./upkeep";

type RelayParts = "execution" | "stopAccount" | "burying" | "carriersOf" | "erasures" | "leaver";

export interface UpkeepFloorOptions extends Pick<UpkeepParts, "stores" | "starter" | "executionDays">, Pick<RelayedOptions, RelayParts> {
  services: Services;
  lifecycle: Lifecycle;
  batchStarter: RelayedOptions["starter"];
  tasks: FailingTasks;
  webhooks: HandOver;
  connection: Parameters<typeof startRelay>[1]["connection"];
  logger: Logger;
}

/** Wires scheduled work, and what repairs the state that ended processes left. `start` starts the latter after the worker. */
export const wireUpkeep = (options: UpkeepFloorOptions) => {
  const { stores, services, lifecycle, starter, batchStarter, tasks, webhooks, connection, logger } = options;
  const earlier = createEarlierMessages({ stores, notifications: services.notifications, webhooks, logger });
  const upkeep = createUpkeep({ ...options, end: lifecycle.end, moveLate: earlier.moveLate, pendingOf: webhooks.pending });
  const relayed = createRelayed({
    ...{ ...options, ...lifecycle, starter: batchStarter },
    ...{ accountErasure: services.accountErasure, identity: services.identity, billing: services.billing },
  });
  return {
    applyAccountChanges: relayed.applyAccountChanges,
    activities: { ...earlier.activities, ...createUpkeepActivities({ ...upkeep, triggers: services.triggers }) },
    start: (): { stop(): Promise<void> } => {
      const relay = startRelay(relayed.rows, { service: "executions", connection, logger });
      const stuckWatch = startStuckWatch({ stores, tasks, starter, abandon: lifecycle.abandon, logger });
      return {
        stop: async () => {
          await Promise.all([relay.stop(), stuckWatch.stop()]);
        },
      };
    },
  };
};
