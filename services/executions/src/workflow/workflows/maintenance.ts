/** The workflows of schedules. */
import type { LedgerReport, ReconcileReport, RetentionReport } from "../activity-types";
import { checkLedger, enforceRetention, reconcile, renewDuePlans } from "./steps";

/** Ends recorded runs, goes on with deliveries, and closes holds that nothing carries any more. Started by a schedule. */
export async function reconcileRuns(): Promise<ReconcileReport> {
  return reconcile();
}

/**
 * Renews the plans of accounts whose month is over. Started by a schedule. Billing renews an account by itself whenever it
 * is called; this is for idle accounts, so that their ledgers say in time what has expired.
 */
export async function renewPlans(): Promise<{ renewed: number; failed: number }> {
  return renewDuePlans();
}

/** Removes what was kept long enough, as the table of retention says. Started by a schedule. */
export async function removeExpired(): Promise<RetentionReport> {
  return enforceRetention();
}

/** Checks every account against all of its rows, those of past years, too. Started by a schedule. */
export async function checkWholeLedger(): Promise<LedgerReport> {
  return checkLedger();
}
