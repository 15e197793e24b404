/** All that is relayed here: what changes of runs, batches, budgets, accounts and mails still owe. */
import type { RelayedRows } from "@nodeloom/platform";
import type { Mails } from "../mail/owners";
import { createRelayedBatches, type RelayedBatchesOptions } from "./batches";
import { createRelayedAlerts, type RelayedAlertsOptions } from "./budget-alerts";
import { createRelayedErasures, type RelayedErasuresOptions } from "./erasures";
import { createRelayedRuns, type RelayedRunsOptions } from "./runs";

export type RelayedOptions = RelayedRunsOptions &
  RelayedBatchesOptions &
  RelayedAlertsOptions &
  RelayedErasuresOptions & { mails: Mails | undefined };

/** Mails that no workflow was started for. */
const relayedMails = ({ startForgotten }: Mails): RelayedRows<string> => ({
  name: "mails",
  page: async (_limit, after) => (after ? [] : ["not started"]),
  signatureOf: (row) => row,
  entriesOf: () => 0,
  staleMs: 0,
  settle: () => startForgotten().then(() => true),
});

export const createRelayed = (options: RelayedOptions): RelayedRows<unknown>[] => [
  createRelayedRuns(options),
  createRelayedBatches(options),
  createRelayedAlerts(options),
  createRelayedErasures(options),
  ...(options.mails ? [relayedMails(options.mails)] : []),
];
