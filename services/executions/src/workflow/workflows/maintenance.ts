/** Workflows of periodic work. */
import type { LedgerReport, ReconcileReport, RetentionReport, RetiringReport } from "../activity-types";
import { checkLedger, enforceRetention, reconcile, renewDuePlans, sendRetiringNotices } from "./steps";

/** Ends orphaned runs, continues deliveries, and closes orphaned holds. A schedule starts it. */
export async function reconcileRuns(): Promise<ReconcileReport> {
  return reconcile();
}

/**
 * Renews plans whose month has ended. A schedule starts it. Billing also renews an account at each call. This workflow renews idle
 * accounts, so that their ledgers show expired credits without delay.
 */
export async function renewPlans(): Promise<{ renewed: number; failed: number }> {
  return renewDuePlans();
}

/** Deletes expired data according to the retention table. A schedule starts it. */
export async function removeExpired(): Promise<RetentionReport> {
  return enforceRetention();
}

/** Checks every account against all of its rows, including rows of past years. A schedule starts it. */
export async function checkWholeLedger(): Promise<LedgerReport> {
  return checkLedger();
}

/** Notifies owners of workflows whose models will be shut down soon. A schedule starts it. */
export async function tellOfRetiringModels(): Promise<RetiringReport> {
  return sendRetiringNotices();
}
