import type { Logger } from "@nodeloom/platform";
import type { LedgerReport } from "../workflow/activity-types";
import type { Billing } from "../clients";
import { TIMING } from "../run/timing";

/**
 * What billing is asked for on a schedule, page by page, from where an earlier attempt came to: to renew due plans, and to check its
 * ledger. `beat` hears after every page how far it is.
 */

const PAGE = 200;

export interface RenewalProgress {
  renewed: number;
  /** Accounts that could not be renewed; the next look finds them again. */
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

/** Has billing add up all rows of every account. What does not agree is an error in the log. */
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
    logger.info(report, "every account was checked against all of its rows");
    return report;
  };
