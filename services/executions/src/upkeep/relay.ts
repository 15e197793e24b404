/** Rows that this service relays: pending outboxes of runs and batches, and erasures of accounts and runs. */
import type { RelayedRows } from "@nodeloom/platform";
import { createRelayedBatches, type RelayedBatchesOptions } from "./batches";
import { createRelayedExpired, type RelayedExpiredOptions } from "./expired";
import { createRelayedErasures, type RelayedErasuresOptions } from "./erasures";
import { createRelayedManyErasures, type RelayedManyErasuresOptions } from "./many-erasures";
import { createRelayedRuns, type RelayedRunsOptions } from "./runs";

export type RelayedOptions = RelayedRunsOptions &
  RelayedBatchesOptions &
  RelayedErasuresOptions &
  RelayedManyErasuresOptions &
  RelayedExpiredOptions;

export const createRelayed = (options: RelayedOptions): RelayedRows<unknown>[] => {
  const expired = createRelayedExpired(options);
  return [
    createRelayedRuns(options),
    createRelayedBatches(options),
    createRelayedErasures(options),
    createRelayedManyErasures(options),
    expired.runs,
    expired.batches,
  ];
};
