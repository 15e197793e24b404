import type { Quote } from "@nodeloom/client";
import { PLANS } from "@nodeloom/kernel/plans";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meQuery } from "../api/queries";
import { creditNumber } from "../ui/format";
import { Notice } from "../ui/notice";
import { COMMON } from "../messages/common";
import { AFFORDABLE } from "../messages/runs";

const MILLI = 1_000;
const FREE = PLANS.free;

/**
 * Warns that a run can exceed the balance or the Free plan.
 * @param limit credits that the run can spend, if below its highest price
 */
export const Affordable = ({ quote, limit }: { quote: Quote | undefined; limit?: number | null }) => {
  const { data: me } = useQuery(meQuery);
  if (!me) return null;
  const available = me.credits.plan + me.credits.topUp;
  const most = Math.min(quote?.maxCreditCost ?? 0, limit ?? Number.POSITIVE_INFINITY);
  const plans = (
    <Link to="/plans" className="text-accent-text underline underline-offset-2">
      {COMMON.seePlans}
    </Link>
  );
  if (most > available)
    return (
      <Notice kind="warn" title={AFFORDABLE.notEnoughCredits}>
        {AFFORDABLE.tooExpensive(creditNumber(most), creditNumber(available))} {plans}
      </Notice>
    );
  if (me.user.tier !== "free") return null;
  return (
    <p className="text-xs text-muted">
      {AFFORDABLE.freePlan(FREE.monthlyMillicredits / MILLI, FREE.concurrency, FREE.maxWorkflows ?? 0)}{" "}
      {AFFORDABLE.youHave(creditNumber(available))} {plans}
    </p>
  );
};
