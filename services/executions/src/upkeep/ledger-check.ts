import type { Logger } from "@nodeloom/platform";
import type { Billing } from "../clients";
import type { LedgerReport } from "../carry/reports";
import { TIMING } from "../run/timing";

/** How far a check has come, and what it has found. */
export interface LedgerProgress extends LedgerReport {
  cursor: string;
}

const NOTHING_YET: LedgerProgress = { accounts: 0, mismatches: 0, staleHolds: 0, cursor: "" };

/**
 * Has billing add up all rows of every account, page by page, from where an earlier attempt came to. What does not agree is an
 * error in the log; `beat` is told after every page.
 */
export const createLedgerCheck =
  ({ billing, logger }: { billing: Pick<Billing, "checkLedger">; logger: Logger }) =>
  async (beat: (progress: LedgerProgress) => void, earlier: LedgerProgress = NOTHING_YET): Promise<LedgerReport> => {
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
