import type { Operations } from "@nodeloom/client";
import { ExternalLink } from "lucide-react";
import { useRef, useState, type FormEvent } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { whole } from "../../ui/format";
import { Field } from "../../ui/inputs/field";
import { NumberInput } from "../../ui/inputs/value-inputs";
import { Notice } from "../../ui/notice";
import { Card } from "../../ui/page";
import { COMMON } from "../../messages/common";
import { BUY_CREDITS } from "../../messages/billing";

type Terms = NonNullable<Operations["getBilling"]["response"]["purchases"]>;

const DOLLARS = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const SUGGESTED = [1_000, 5_000, 20_000];
const CENTS = 100;
/** Prices in cents are whole except for rounding errors. */
const EPSILON = 1e-6;

/** In dollars, rounded up to the cent like the invoice. */
const priceOf = (credits: number, { creditPriceUsd }: Terms): number => Math.ceil(credits * creditPriceUsd * CENTS - EPSILON) / CENTS;

const problemOf = (credits: number | undefined, { minCredits, maxCredits }: Terms): string | undefined => {
  if (credits !== undefined && Number.isInteger(credits) && credits >= minCredits && credits <= maxCredits) return undefined;
  return BUY_CREDITS.amountRange(whole(minCredits), whole(maxCredits));
};

/** Chooses an amount and continues to Stripe. */
export const BuyCredits = ({ terms }: { terms: Terms }) => {
  const [credits, setCredits] = useState<number | undefined>(SUGGESTED[0]);
  const { busy, run } = useChange();
  // Repeated presses make one purchase, even after a lost response.
  const key = useRef<{ credits: number; value: string }>(undefined);
  const problem = problemOf(credits, terms);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (credits === undefined || problem !== undefined) return;
    if (key.current?.credits !== credits) key.current = { credits, value: crypto.randomUUID() };
    const { value } = key.current;
    const checkout = await run(async () => (await request("createCheckout", { body: { credits }, idempotencyKey: value })).body);
    if (checkout) location.assign(checkout.url);
  };
  return (
    <Card title={BUY_CREDITS.buyCredits} className="mb-5">
      {!terms.live && (
        <Notice kind="warn" className="mb-4">
          {BUY_CREDITS.testMode}
        </Notice>
      )}
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        <div className="flex flex-wrap gap-2" role="group" aria-label={BUY_CREDITS.suggestedAmounts}>
          {SUGGESTED.map((amount) => (
            <Button key={amount} size="sm" aria-pressed={credits === amount} onClick={() => setCredits(amount)}>
              {whole(amount)}
            </Button>
          ))}
        </div>
        <Field label={COMMON.credits} className="max-w-60" error={problem}>
          {(attributes) => <NumberInput {...attributes} value={credits} onChange={setCredits} />}
        </Field>
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" variant="primary" icon={ExternalLink} busy={busy} disabled={problem !== undefined}>
            {credits === undefined || problem !== undefined
              ? BUY_CREDITS.payWithStripe
              : BUY_CREDITS.payAmount(DOLLARS.format(priceOf(credits, terms)))}
          </Button>
          <span className="text-xs text-faint">{BUY_CREDITS.stripeHint}</span>
        </div>
      </form>
    </Card>
  );
};
