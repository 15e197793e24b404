import { PLANS, TIERS } from "@nodeloom/kernel/plans";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Minus } from "lucide-react";
import { meQuery } from "../../api/queries";
import { Badge } from "../../ui/badge";
import { classes } from "../../ui/classes";
import { bytes, creditNumber } from "../../ui/format";
import { Page } from "../../ui/page";
import { billingQuery } from "./queries";

const MILLI = 1_000;
/** 0.04 USD without a markup. */
const EXAMPLE_CREDITS = 4;
const number = (value: number): string => value.toLocaleString("en");
const titleOf = (tier: string): string => tier.charAt(0).toUpperCase() + tier.slice(1);

type Plan = (typeof PLANS)[keyof typeof PLANS];

/** Differences between plans, most wanted first. */
const LINES: readonly (readonly [string, (plan: Plan) => string | boolean])[] = [
  ["Credits a month", ({ monthlyMillicredits }) => number(monthlyMillicredits / MILLI)],
  ["A run costs", ({ markupPermille }) => `${markupPermille / MILLI} × the provider's price`],
  ["Credits for a picture of 0.04 USD", ({ markupPermille }) => creditNumber((EXAMPLE_CREDITS * markupPermille) / MILLI)],
  ["Runs at once", ({ concurrency }) => number(concurrency)],
  ["Workflows", ({ maxWorkflows }) => (maxWorkflows === null ? "no limit" : number(maxWorkflows))],
  ["Room for files", ({ mediaBytes }) => bytes(mediaBytes)],
  ["API keys", ({ apiAccess }) => apiAccess],
  ["Requests a minute", ({ rateLimitPerMinute }) => (rateLimitPerMinute === null ? "no limit" : number(rateLimitPerMinute))],
];

const Value = ({ of }: { of: string | boolean }) => {
  if (typeof of === "string") return of;
  return of ? (
    <Check className="inline size-4 text-ok" aria-label="yes" role="img" />
  ) : (
    <Minus className="inline size-4 text-faint" aria-label="no" role="img" />
  );
};

export const PlansPage = () => {
  const { data: me } = useSuspenseQuery(meQuery);
  const terms = useQuery(billingQuery).data?.purchases;
  const own = me?.user.tier;
  const isCustom = own !== undefined && !(TIERS as readonly string[]).includes(own);
  return (
    <Page title="Plans" lead="A credit is one US cent. Credits of a month expire with it; credits that are bought stay.">
      {isCustom && <p className="mb-4 text-sm text-muted">Your plan is {own}, made for you by an administrator.</p>}
      <div className="overflow-x-auto rounded-2xl border bg-surface" tabIndex={0} role="region" aria-label="What the plans have">
        <table className="w-full text-sm max-md:text-xs md:min-w-140">
          <thead>
            <tr className="border-b">
              <td className="w-1/5 p-3 max-md:p-1.5" />
              {TIERS.map((tier) => (
                <th
                  key={tier}
                  scope="col"
                  className={classes("p-3 text-left align-top font-semibold max-md:p-1.5", tier === own && "bg-accent-soft")}
                >
                  {titleOf(tier)} {tier === own && <Badge tone="accent">yours</Badge>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {LINES.map(([title, value]) => (
              <tr key={title} className="border-b last:border-0">
                <th scope="row" className="p-3 text-left font-medium text-muted max-md:p-1.5">
                  {title}
                </th>
                {TIERS.map((tier) => (
                  <td key={tier} className={classes("p-3 tabular-nums max-md:p-1.5", tier === own && "bg-accent-soft")}>
                    <Value of={value(PLANS[tier])} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="mt-4 text-sm text-muted">
        An administrator of this platform changes plans{terms ? "" : " and gives credits"}; a plan can't be bought. Some models ask for a
        plan: their pages say so, with the price at yours.{" "}
        {terms && (
          <>
            Credits beyond those of your plan{" "}
            <Link to="/balance" className="text-accent-text underline underline-offset-2">
              can be bought
            </Link>{" "}
            at {terms.creditPriceUsd} USD each.
          </>
        )}
      </p>
    </Page>
  );
};
