import type { Model, TierPrice } from "@nodeloom/client";
import { creditNumber } from "../ui/format";

const rates = (price: TierPrice): readonly (readonly [number, string])[] => {
  if ("perRunCredits" in price) return [[price.perRunCredits, "a run"]];
  if ("perImageCredits" in price) return [[price.perImageCredits, "an image"]];
  if ("perSecondCredits" in price) return [[price.perSecondCredits, "a second"]];
  if ("perThousandCharactersCredits" in price) return [[price.perThousandCharactersCredits, "per 1,000 characters"]];
  return [
    [price.inputCreditsPerMillionTokens, "per million tokens in"],
    [price.outputCreditsPerMillionTokens, "per million tokens out"],
  ];
};

/** A model's price in the caller's credits: "3 credits an image". */
export const priceWords = ({ tierPrice }: Pick<Model, "tierPrice">): string => {
  if (tierPrice === null) return "price not set";
  const asked = rates(tierPrice);
  if (asked.every(([amount]) => amount === 0)) return "free";
  return asked.map(([amount, per]) => `${creditNumber(amount)} credits ${per}`).join(", ");
};
