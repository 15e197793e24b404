import type { Logger } from "@nodeloom/platform";
import type { LedgerReport } from "../workflow/activity-types";
import type { Billing } from "../clients";
import { noteLedgerCheck } from "../meters";
import { TIMING } from "../run/timing";

/**
 * Scheduled requests to billing: renew due plans, and check the ledger. They continue page by page from the position of an earlier attempt.
 * `beat` receives the position after every page.
 */

const PAGE = 200;

export interface RenewalProgress {
  renewed: number;
  /** Number of accounts that couldn't be renewed. The next pass retries them. */
  failed: number;
  cursor: string;
}

export const createRenewals =
  ({ billing }: { billing: Pick<Billing, "renewDuePlans"> }) =>
  async (
    beat: (progress: RenewalProgress) => void,
    earlier: RenewalProgress = { renewed: 0, failed: 0, cursor: "" },
  ): Promise<Pick<RenewalProgress, "renewed" | "failed">> => {
    let { renewed, failed, cursor } = earlier;
    do {
      const page = await billing.renewDuePlans({ limit: PAGE, cursor }, { deadlineMs: TIMING.renewPage });
      renewed += page.renewed;
      failed += page.failed;
      cursor = page.nextCursor;
      beat({ renewed, failed, cursor });
    } while (cursor);
    return { renewed, failed };
  };

export interface LedgerProgress extends LedgerReport {
  cursor: string;
}

/** Asks billing to sum all rows of every account. A mismatch is logged as an error. */
export const createLedgerCheck =
  ({ billing, logger }: { billing: Pick<Billing, "checkLedger">; logger: Logger }) =>
  async (
    beat: (progress: LedgerProgress) => void,
    earlier: LedgerProgress = { accounts: 0, mismatches: 0, staleHolds: 0, cursor: "" },
  ): Promise<LedgerReport> => {
    let { cursor, ...report } = earlier;
    do {
      const page = await billing.checkLedger({ cursor, full: true }, { deadlineMs: TIMING.ledgerPage });
      for (const mismatch of page.mismatches) logger.error({ mismatch }, "an account and its ledger disagree");
      report = {
        accounts: report.accounts + page.accounts,
        mismatches: report.mismatches + page.mismatches.length,
        staleHolds: report.staleHolds + page.staleHolds.length,
      };
      cursor = page.nextCursor;
      beat({ ...report, cursor });
    } while (cursor);
    noteLedgerCheck(report.mismatches);
    logger.info(report, "every account was checked against all of its rows");
    return report;
  };
