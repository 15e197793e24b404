/** Everything relayed here: pending outboxes of runs, batches and accounts. */
import type { RelayedRows } from "@nodeloom/platform";
import { createRelayedBatches, type RelayedBatchesOptions } from "./batches";
import { createRelayedErasures, type RelayedErasuresOptions } from "./erasures";
import { createRelayedRuns, type RelayedRunsOptions } from "./runs";

export type RelayedOptions = RelayedRunsOptions & RelayedBatchesOptions & RelayedErasuresOptions;

export const createRelayed = (options: RelayedOptions): RelayedRows<unknown>[] => [
  createRelayedRuns(options),
  createRelayedBatches(options),
  createRelayedErasures(options),
];
