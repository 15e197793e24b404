import type { Billing } from "../clients";
import { TIMING } from "../run/timing";

const PAGE = 200;

/** How far a look for due plans has come. */
export interface RenewalProgress {
  renewed: number;
  /** Accounts that could not be renewed; the next look finds them again. */
  failed: number;
  cursor: string;
}

const NOTHING_YET: RenewalProgress = { renewed: 0, failed: 0, cursor: "" };

/** Asks billing to renew due plans, page by page, from where an earlier attempt came to. `beat` is told after every page. */
export const createRenewals =
  ({ billing }: { billing: Pick<Billing, "renewDuePlans"> }) =>
  async (
    beat: (progress: RenewalProgress) => void,
    earlier: RenewalProgress = NOTHING_YET,
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
