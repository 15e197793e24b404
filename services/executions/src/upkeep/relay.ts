/** Rows that this service relays: pending outboxes of runs and batches, erasures of accounts and runs, and changes of accounts. */
import type { RelayedRows } from "@nodeloom/platform";
import { createRelayedBatches, type RelayedBatchesOptions } from "./batches";
import { createRelayedExpired, type RelayedExpiredOptions } from "./expired";
import { createRelayedErasures, type RelayedErasuresOptions } from "../maintenance/erasures";
import { createRelayedManyErasures, type RelayedManyErasuresOptions } from "./many-erasures";
import { createRelayedRunStops, type RelayedRunStopsOptions } from "../maintenance/run-stops";
import { createRelayedRuns, type RelayedRunsOptions } from "./runs";
import { createRelayedTierRollouts, type RelayedTierRolloutsOptions } from "../maintenance/tier-rollouts";

/** Pending changes of accounts are few. */
const ACCOUNT_CHANGES = 1_000;

export type RelayedOptions = RelayedRunsOptions &
  RelayedBatchesOptions &
  RelayedErasuresOptions &
  RelayedManyErasuresOptions &
  RelayedExpiredOptions &
  RelayedRunStopsOptions &
  RelayedTierRolloutsOptions;

export const createRelayed = (options: RelayedOptions) => {
  const expired = createRelayedExpired(options);
  const accountChanges: RelayedRows<unknown>[] = [createRelayedRunStops(options), createRelayedTierRollouts(options)];
  const rows = [
    createRelayedRuns(options),
    createRelayedBatches(options),
    createRelayedErasures(options),
    createRelayedManyErasures(options),
    expired.runs,
    expired.batches,
    ...accountChanges,
  ];
  return {
    rows,
    /** Settles stops and rollouts without waiting for the relay. */
    applyAccountChanges: async (): Promise<void> => {
      for (const changes of accountChanges) for (const row of await changes.page(ACCOUNT_CHANGES, undefined)) await changes.settle([row]);
    },
  };
};
