import type { Quote } from "@nodeloom/client";
import { PLANS } from "@nodeloom/kernel/plans";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meQuery } from "../api/queries";
import { creditNumber } from "../ui/format";
import { Notice } from "../ui/notice";

const MILLI = 1_000;
const FREE = PLANS.free;

/** Warning before a run that it may exceed the balance or the Free plan. */
export const Affordable = ({ quote }: { quote: Quote | undefined }) => {
  const { data: me } = useQuery(meQuery);
  if (!me) return null;
  const available = me.credits.plan + me.credits.topUp;
  const most = quote?.maxCreditCost ?? 0;
  const plans = (
    <Link to="/plans" className="text-accent-text underline underline-offset-2">
      See the plans
    </Link>
  );
  if (most > available)
    return (
      <Notice kind="warn" title="More than you have">
        It may cost {creditNumber(most)} credits; you have {creditNumber(available)}. {plans}
      </Notice>
    );
  if (me.user.tier !== "free") return null;
  return (
    <p className="text-xs text-muted">
      Free: {FREE.monthlyMillicredits / MILLI} credits a month, {FREE.concurrency} run at a time, {FREE.maxWorkflows} workflow. You have{" "}
      {creditNumber(available)}. {plans}
    </p>
  );
};
