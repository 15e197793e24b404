import { fromUsd, toUsd, unitCredits } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";
import { z } from "zod";

/** Wholesale prices at the JSON edge: US dollars, by what they are counted in. */

/** A run of many such units, at the highest markup, still fits what billing can hold. */
const MAX_USD = 1_000;
const usd = z.number().min(0).max(MAX_USD);

/** No union of zod's says what would fit. */
const WRONG_PRICE = `must be an object of one price from 0 to ${MAX_USD} USD, by perRunUsd, perImageUsd, perSecondUsd or perThousandCharactersUsd, or of inputUsdPerMillionTokens and outputUsdPerMillionTokens`;

export const price = z
  .union(
    [
      z.strictObject({ perRunUsd: usd }),
      z.strictObject({ perImageUsd: usd }),
      z.strictObject({ perSecondUsd: usd }),
      z.strictObject({ perThousandCharactersUsd: usd }),
      z.strictObject({ inputUsdPerMillionTokens: usd, outputUsdPerMillionTokens: usd }),
    ],
    { error: WRONG_PRICE },
  )
  .meta({ id: "Price", example: { perImageUsd: 0.02 } });
export type PriceView = z.infer<typeof price>;

/** A registry price as clients see it; null when there is none. */
export const priceView = (stored: models.Price | undefined): PriceView | null => {
  switch (stored?.basis?.$case) {
    case "perRunMicroUsd":
      return { perRunUsd: toUsd(stored.basis.value) };
    case "perImageMicroUsd":
      return { perImageUsd: toUsd(stored.basis.value) };
    case "perSecondMicroUsd":
      return { perSecondUsd: toUsd(stored.basis.value) };
    case "perThousandCharactersMicroUsd":
      return { perThousandCharactersUsd: toUsd(stored.basis.value) };
    case "tokens":
      return {
        inputUsdPerMillionTokens: toUsd(stored.basis.value.inputMicroUsdPerMillion),
        outputUsdPerMillionTokens: toUsd(stored.basis.value.outputMicroUsdPerMillion),
      };
    default:
      return null;
  }
};

/** The opposite of priceView. */
export const toStoredPrice = (view: PriceView): models.Price => {
  if ("perRunUsd" in view) return { basis: { $case: "perRunMicroUsd", value: fromUsd(view.perRunUsd) } };
  if ("perImageUsd" in view) return { basis: { $case: "perImageMicroUsd", value: fromUsd(view.perImageUsd) } };
  if ("perSecondUsd" in view) return { basis: { $case: "perSecondMicroUsd", value: fromUsd(view.perSecondUsd) } };
  if ("perThousandCharactersUsd" in view)
    return { basis: { $case: "perThousandCharactersMicroUsd", value: fromUsd(view.perThousandCharactersUsd) } };
  const value = {
    inputMicroUsdPerMillion: fromUsd(view.inputUsdPerMillionTokens),
    outputMicroUsdPerMillion: fromUsd(view.outputUsdPerMillionTokens),
  };
  return { basis: { $case: "tokens", value } };
};

const credits = z.number().min(0);

/** A price as a caller pays it: credits under the markup of the caller's tier. */
export const tierPrice = z
  .union([
    z.strictObject({ perRunCredits: credits }),
    z.strictObject({ perImageCredits: credits }),
    z.strictObject({ perSecondCredits: credits }),
    z.strictObject({ perThousandCharactersCredits: credits }),
    z.strictObject({ inputCreditsPerMillionTokens: credits, outputCreditsPerMillionTokens: credits }),
  ])
  .meta({ id: "TierPrice", example: { perImageCredits: 3 } });
export type TierPriceView = z.infer<typeof tierPrice>;

/** What a unit costs under a markup; null when the model has no price. A call's sum is rounded up to 0.001 credit. */
export const tierPriceView = (stored: models.Price | undefined, markupPermille: number): TierPriceView | null => {
  const paid = (microUsd: number): number => unitCredits(microUsd, markupPermille);
  switch (stored?.basis?.$case) {
    case "perRunMicroUsd":
      return { perRunCredits: paid(stored.basis.value) };
    case "perImageMicroUsd":
      return { perImageCredits: paid(stored.basis.value) };
    case "perSecondMicroUsd":
      return { perSecondCredits: paid(stored.basis.value) };
    case "perThousandCharactersMicroUsd":
      return { perThousandCharactersCredits: paid(stored.basis.value) };
    case "tokens":
      return {
        inputCreditsPerMillionTokens: paid(stored.basis.value.inputMicroUsdPerMillion),
        outputCreditsPerMillionTokens: paid(stored.basis.value.outputMicroUsdPerMillion),
      };
    default:
      return null;
  }
};
