/** Workflows of periodic work. */
import type { LedgerReport, ReconcileReport, RetentionReport, RetiringReport } from "../activity-types";
import { checkLedger, enforceRetention, reconcile, renewDuePlans, sendRetiringNotices } from "./steps";

/** Ends orphaned runs, continues deliveries, and closes orphaned holds. Started by a schedule. */
export async function reconcileRuns(): Promise<ReconcileReport> {
  return reconcile();
}

/**
 * Renews plans whose month is over. Started by a schedule. Billing also renews an account at each call; this is for idle accounts, so that
 * their ledgers show expired credits without delay.
 */
export async function renewPlans(): Promise<{ renewed: number; failed: number }> {
  return renewDuePlans();
}

/** Deletes expired data according to the retention table. Started by a schedule. */
export async function removeExpired(): Promise<RetentionReport> {
  return enforceRetention();
}

/** Checks every account against all of its rows, including those of past years. Started by a schedule. */
export async function checkWholeLedger(): Promise<LedgerReport> {
  return checkLedger();
}

/** Tells owners of models that providers shut down soon. Started by a schedule. */
export async function tellOfRetiringModels(): Promise<RetiringReport> {
  return sendRetiringNotices();
}
