import { proxyActivities } from "@temporalio/workflow";
import type { ReconcileReport } from "../../reconcile";
import type { DeliveriesReport } from "../../reconcile-deliveries";
import { TIMING } from "../../timing";
import type { Activities } from "../activity-types";

const { reconcile } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.reconcile,
  heartbeatTimeout: TIMING.heartbeat,
  retry: { maximumAttempts: 3 },
});

/** Ends recorded runs, and goes on with deliveries, that nothing carries any more. Started by a schedule. */
export async function reconcileRuns(): Promise<ReconcileReport & DeliveriesReport> {
  return reconcile();
}
