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

/** A registry price under names that end with the unit, such as `perImageUsd`; null when there is none. */
const inUnit = (stored: models.Price | undefined, unit: "Usd" | "Credits", amount: (microUsd: number) => number) => {
  const basis = stored?.basis;
  if (!basis) return null;
  if (basis.$case !== "tokens") return { [basis.$case.replace("MicroUsd", unit)]: amount(basis.value) };
  const { inputMicroUsdPerMillion, outputMicroUsdPerMillion } = basis.value;
  return {
    [`input${unit}PerMillionTokens`]: amount(inputMicroUsdPerMillion),
    [`output${unit}PerMillionTokens`]: amount(outputMicroUsdPerMillion),
  };
};

/** A registry price as clients see it; null when there is none. */
export const priceView = (stored: models.Price | undefined): PriceView | null => inUnit(stored, "Usd", toUsd) as PriceView | null;

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
export const tierPriceView = (stored: models.Price | undefined, markupPermille: number): TierPriceView | null =>
  inUnit(stored, "Credits", (microUsd) => unitCredits(microUsd, markupPermille)) as TierPriceView | null;
