import type { Logger } from "@nodeloom/platform";
import type { RunStarter } from "../workflow/client";
import type { Billing, Identity, Media, Models, Notifications, Usage, Workflows } from "../clients";
import type { End } from "../lifecycle/end";
import type { Stores } from "../record/stores";
import type { PendingOf } from "../record/runs/expiry";
import type { EarlierMessages } from "./earlier-messages";
import { createLedgerCheck, createRenewals } from "../maintenance/billing";
import { createLeaks } from "./leaks";
import { createReconciler } from "./reconcile";
import { createRetention } from "../maintenance/retention";
import { createOwnRemoval } from "./own-removal";
import { createRetiringNotices } from "../maintenance/retiring-models";

export interface UpkeepParts {
  stores: Stores;
  services: {
    billing: Billing;
    identity: Identity;
    media: Media;
    models: Models;
    usage: Usage;
    workflows: Workflows;
    notifications: Notifications;
  };
  starter: RunStarter;
  moveLate: EarlierMessages["moveLate"];
  pendingOf: PendingOf;
  end: Pick<End, "end">;
  executionDays: number;
  logger: Logger;
}

export const createUpkeep = ({ stores, services, starter, moveLate, pendingOf, end, executionDays, logger }: UpkeepParts) => {
  const { billing, identity, media, models, usage, workflows, notifications } = services;
  const executions = createOwnRemoval({ stores, pendingOf, executionDays });
  return {
    reconcileRuns: createReconciler({ stores, starter, end, logger }),
    reconcileDeliveries: moveLate,
    closeLeaks: createLeaks({ billing, stores, starter, logger }),
    renewals: createRenewals({ billing }),
    ledgerCheck: createLedgerCheck({ billing, logger }),
    retiringNotices: createRetiringNotices({ models, workflows, notifications, executionDays, logger }),
    retention: createRetention({ owners: { executions, media, workflows, usage, identity, billing, notifications }, logger }),
  };
};
