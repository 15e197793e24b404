import type { Quote } from "@nodeloom/client";
import { useState } from "react";

import { EXACT_BELOW, roundCredits } from "../ui/format";
import { NumberField } from "../ui/inputs/value-inputs";
import { RUN_PRICE } from "../messages/runs";

/**
 * Price on the Run button: "2.6 credits", or "about 92, at most 120 credits" if only the run determines it. The maximum is never rounded
 * down.
 */
export const priceOf = (quote: Quote | undefined): string | undefined => {
  if (!quote?.maxCreditCost) return undefined;
  const most = roundCredits(quote.maxCreditCost, Math.ceil);
  const about = roundCredits(quote.estimatedCreditCost ?? 0);
  const unit = most === "1" ? "credit" : "credits";
  return quote.exact || about === most ? `${most} ${unit}` : RUN_PRICE.aboutAtMost(about, most, unit);
};

/** Cost limit of a run: the exact price, or an editable maximum. */
export const useLimit = (quote: Quote | undefined) => {
  const [ownLimit, setGiven] = useState<{ of: number | null; limit: number | undefined }>();
  const most = quote?.maxCreditCost ?? null;
  const own = ownLimit?.of === most ? ownLimit.limit : undefined;
  const roundedMost = most !== null && most >= EXACT_BELOW ? Math.ceil(most) : most;
  const isOpen = quote !== undefined && !quote.exact && most !== null;
  return {
    limit: own ?? (quote?.exact === true ? quote.estimatedCreditCost : roundedMost),
    isOpen,
    set: (limit: number | undefined) => setGiven({ of: most, limit }),
  };
};
export type Limit = ReturnType<typeof useLimit>;

/** Explains the price below Run, and lets the user set a limit if the price isn't exact. */
export const RunPrice = ({ quote, limit: { limit, isOpen, set } }: { quote: Quote | undefined; limit: Limit }) => {
  if (!quote) return null;
  const grants = quote.nodes.some(({ grant }) => grant);
  if (!quote.maxCreditCost) return <p className="text-xs text-muted">{grants ? RUN_PRICE.trialRun : RUN_PRICE.free}</p>;
  if (!isOpen)
    return (
      <p className="text-xs text-muted">{RUN_PRICE.mostReturned(roundCredits(quote.maxCreditCost, Math.ceil), quote.maxCreditCost)}</p>
    );
  return <NumberField label={RUN_PRICE.creditLimit} hint={RUN_PRICE.rangeHint} data-limit className="w-40!" value={limit} onChange={set} />;
};
