import { proxyActivities } from "@temporalio/workflow";
import { TIMING } from "../../timing";
import type { Activities } from "../activity-types";

const { reconcile } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.reconcile,
  heartbeatTimeout: TIMING.heartbeat,
  retry: { maximumAttempts: 3 },
});

/** Ends recorded runs that nothing carries any more. Started by a schedule. */
export async function reconcileRuns(): Promise<{ asked: number; ended: number }> {
  return reconcile();
}
