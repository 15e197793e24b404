import { PLANS, TIERS } from "@nodeloom/kernel/plans";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Minus } from "lucide-react";
import { meQuery } from "../../api/queries";
import { Badge } from "../../ui/badge";
import { classes } from "../../ui/classes";
import { bytes, creditNumber, titled } from "../../ui/format";
import { Page } from "../../ui/page";
import { billingQuery } from "./queries";
import { COMMON } from "../../messages/common";
import { PLANS_PAGE } from "../../messages/billing";

const MILLI = 1_000;
/** 0.04 USD without a markup. */
const EXAMPLE_CREDITS = 4;
const number = (value: number): string => value.toLocaleString("en");

type Plan = (typeof PLANS)[keyof typeof PLANS];

/** Differences between plans, most wanted first. */
const LINES: readonly (readonly [string, (plan: Plan) => string | boolean])[] = [
  [PLANS_PAGE.creditsPerMonth, ({ monthlyMillicredits }) => number(monthlyMillicredits / MILLI)],
  [PLANS_PAGE.priceOfARun, ({ markupPermille }) => PLANS_PAGE.times(markupPermille / MILLI)],
  [PLANS_PAGE.exampleImage, ({ markupPermille }) => creditNumber((EXAMPLE_CREDITS * markupPermille) / MILLI)],
  [PLANS_PAGE.concurrentRuns, ({ concurrency }) => number(concurrency)],
  [COMMON.workflows, ({ maxWorkflows }) => (maxWorkflows === null ? PLANS_PAGE.unlimited : number(maxWorkflows))],
  [PLANS_PAGE.fileStorage, ({ mediaBytes }) => bytes(mediaBytes)],
  [COMMON.apiKeys, ({ apiAccess }) => apiAccess],
  [
    PLANS_PAGE.requestsPerMinute,
    ({ rateLimitPerMinute }) => (rateLimitPerMinute === null ? PLANS_PAGE.unlimited : number(rateLimitPerMinute)),
  ],
];

const Value = ({ of }: { of: string | boolean }) => {
  if (typeof of === "string") return of;
  return of ? (
    <Check className="inline size-4 text-ok" aria-label={PLANS_PAGE.yes} role="img" />
  ) : (
    <Minus className="inline size-4 text-faint" aria-label={PLANS_PAGE.no} role="img" />
  );
};

export const PlansPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const terms = useQuery(billingQuery).data?.purchases;
  const own = me?.user.tier;
  const isCustom = own !== undefined && !(TIERS as readonly string[]).includes(own);
  return (
    <Page title={COMMON.plans} lead={PLANS_PAGE.creditHint}>
      {isCustom && <p className="mb-4 text-sm text-muted">{PLANS_PAGE.customized(own)}</p>}
      <div className="overflow-x-auto rounded-2xl border bg-surface" tabIndex={0} role="region" aria-label={PLANS_PAGE.comparePlans}>
        <table className="w-full text-sm max-md:text-xs md:min-w-140">
          <thead>
            <tr className="border-b">
              <td className="w-1/5 p-3 max-md:p-1" />
              {TIERS.map((tier) => (
                <th
                  key={tier}
                  scope="col"
                  className={classes("p-3 text-left align-top font-semibold max-md:p-1", tier === own && "bg-accent-soft")}
                >
                  {titled(tier)}{" "}
                  {tier === own && (
                    <Badge tone="accent" className="max-md:px-0!">
                      {PLANS_PAGE.yourPlan}
                    </Badge>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {LINES.map(([title, value]) => (
              <tr key={title} className="border-b last:border-0">
                <th scope="row" className="p-3 text-left font-medium text-muted max-md:p-1">
                  {title}
                </th>
                {TIERS.map((tier) => (
                  <td key={tier} className={classes("p-3 tabular-nums max-md:p-1", tier === own && "bg-accent-soft")}>
                    <Value of={value(PLANS[tier])} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="mt-4 text-sm text-muted">
        {PLANS_PAGE.administrators(!terms)}{" "}
        {terms && (
          <>
            <Link to="/balance" className="text-accent-text underline underline-offset-2">
              {PLANS_PAGE.buyMoreCredits}
            </Link>{" "}
            {PLANS_PAGE.forUsdEach(terms.creditPriceUsd)}
          </>
        )}
      </p>
    </Page>
  );
};
