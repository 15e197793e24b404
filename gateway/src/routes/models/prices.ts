import { readWrittenPrice, toUsd, unitCredits, writePrice, type WrittenPrice } from "@nodeloom/kernel";
import { MAX_PRICE_USD, priceTable, readPrice, storedPrice } from "@nodeloom/platform";
import type { models } from "@nodeloom/proto";
import { z } from "zod";

/** Prices in JSON: wholesale in US dollars, and credits for a tier, by unit. */

const usd = z.number().min(0).max(MAX_PRICE_USD);

/** Replaces zod's message for a union, which doesn't describe valid values. */
const WRONG_PRICE = `must be an object of one price from 0 to ${MAX_PRICE_USD} USD, by perRunUsd, perImageUsd, perSecondUsd or perThousandCharactersUsd, or of inputUsdPerMillionTokens and outputUsdPerMillionTokens; or a table of prices`;

export const price = z
  .union(
    [
      z.strictObject({ perRunUsd: usd }),
      z.strictObject({ perImageUsd: usd }),
      z.strictObject({ perSecondUsd: usd }),
      z.strictObject({ perThousandCharactersUsd: usd }),
      z.strictObject({ inputUsdPerMillionTokens: usd, outputUsdPerMillionTokens: usd }),
      priceTable,
    ],
    { error: WRONG_PRICE },
  )
  .meta({ id: "Price", example: { perImageUsd: 0.02 } });
export type PriceView = z.infer<typeof price>;

/** A registry price for clients; null without a price. */
export const priceView = (stored: models.Price | undefined): PriceView | null => {
  const modelPrice = readPrice(stored);
  return modelPrice ? (writePrice(modelPrice, "Usd", toUsd) as PriceView) : null;
};

/** Inverse of priceView. */
export const toStoredPrice = (view: PriceView): models.Price => storedPrice(readWrittenPrice(view as WrittenPrice));

const credits = z.number().min(0);
const conditions = priceTable.shape.table.element.shape.when;

/** A caller's price in credits, with the markup of their tier. */
export const tierPrice = z
  .union([
    z.strictObject({ perRunCredits: credits }),
    z.strictObject({ perImageCredits: credits }),
    z.strictObject({ perSecondCredits: credits }),
    z.strictObject({ perThousandCharactersCredits: credits }),
    z.strictObject({ inputCreditsPerMillionTokens: credits, outputCreditsPerMillionTokens: credits }),
    z.strictObject({
      table: z.array(
        z.strictObject({
          when: conditions,
          perRunCredits: credits.optional(),
          perImageCredits: credits.optional(),
          perSecondCredits: credits.optional(),
          perMegapixelCredits: credits.optional(),
          perThousandCharactersCredits: credits.optional(),
          inputCreditsPerMillionTokens: credits.optional(),
          outputCreditsPerMillionTokens: credits.optional(),
        }),
      ),
      factors: priceTable.shape.factors,
      megapixels: priceTable.shape.megapixels,
    }),
  ])
  .meta({ id: "TierPrice", example: { perImageCredits: 3 } });
export type TierPriceView = z.infer<typeof tierPrice>;

/** Price per unit with a markup; null without a price. The total of a call is rounded up to 0.001 credits. */
export const tierPriceView = (stored: models.Price | undefined, markupPermille: number): TierPriceView | null => {
  const modelPrice = readPrice(stored);
  if (!modelPrice) return null;
  // Costs that providers report are wholesale prices.
  const shownPrice = modelPrice.basis === "table" ? { ...modelPrice, actual: undefined } : modelPrice;
  return writePrice(shownPrice, "Credits", (microUsd) => unitCredits(microUsd, markupPermille)) as TierPriceView;
};
