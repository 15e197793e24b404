import type { TierPrice } from "@nodeloom/client";
import { priceWords } from "../../src/api/prices";

it.each<[TierPrice | null, string]>([
  [null, "price not set"],
  [{ perImageCredits: 3 }, "3 credits per image"],
  [
    { inputCreditsPerMillionTokens: 20, outputCreditsPerMillionTokens: 60 },
    "20 credits per million input tokens, 60 credits per million output tokens",
  ],
  [{ table: [{ when: { size: "4K" }, perSecondCredits: 12 }, { perSecondCredits: 4 }] }, "from 4 to 12 credits per second"],
  [{ table: [{ perImageCredits: 2 }], factors: [{ when: { size: "4K" }, times: 2 }] }, "from 2 to 4 credits per image"],
  [{ table: [{ when: { fast: true }, perRunCredits: 5 }, { perMegapixelCredits: 1 }] }, "5 credits per run, 1 credit per megapixel"],
])("shows the price of a model in credits: %j", (tierPrice, words) => {
  expect(priceWords({ tierPrice })).toBe(words);
});
