import type { Model, Price } from "@nodeloom/client";
import { PLANS } from "@nodeloom/kernel/plans";
import { creditNumber } from "../ui/format";

const CREDITS_PER_USD = 100;
const PERMILLE = 1_000;

/** A tier's markup; undefined for custom tiers, whose markup only the service knows. */
export const markupOf = (tier: string): number | undefined =>
  tier in PLANS ? PLANS[tier as keyof typeof PLANS].markupPermille : undefined;

const rates = (price: Price): readonly (readonly [number, string])[] => {
  if ("perRunUsd" in price) return [[price.perRunUsd, "a run"]];
  if ("perImageUsd" in price) return [[price.perImageUsd, "an image"]];
  if ("perSecondUsd" in price) return [[price.perSecondUsd, "a second"]];
  if ("perThousandCharactersUsd" in price) return [[price.perThousandCharactersUsd, "per 1,000 characters"]];
  return [
    [price.inputUsdPerMillionTokens, "per million tokens in"],
    [price.outputUsdPerMillionTokens, "per million tokens out"],
  ];
};

/** A model's price in credits for a tier: "3 credits an image". */
export const priceWords = ({ price }: Pick<Model, "price">, tier: string): string => {
  if (price === null) return "price not set";
  const markup = markupOf(tier);
  if (markup === undefined) return "see the quote of a run";
  return rates(price)
    .map(([usd, per]) => `${creditNumber(Math.ceil(usd * CREDITS_PER_USD * markup) / PERMILLE)} credits ${per}`)
    .join(", ");
};
