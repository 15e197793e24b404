import type { TierPrice } from "@nodeloom/client";
import { priceWords } from "../../src/api/prices";

it.each<[TierPrice | null, string]>([
  [null, "price not set"],
  [{ perImageCredits: 3 }, "3 credits an image"],
  [
    { inputCreditsPerMillionTokens: 20, outputCreditsPerMillionTokens: 60 },
    "20 credits per million tokens in, 60 credits per million tokens out",
  ],
  [{ table: [{ when: { size: "4K" }, perSecondCredits: 12 }, { perSecondCredits: 4 }] }, "from 4 to 12 credits a second"],
  [{ table: [{ perImageCredits: 2 }], factors: [{ when: { size: "4K" }, times: 2 }] }, "from 2 to 4 credits an image"],
  [{ table: [{ when: { fast: true }, perRunCredits: 5 }, { perMegapixelCredits: 1 }] }, "5 credits a run, 1 credits a megapixel"],
])("a price is told in credits: %j", (tierPrice, words) => {
  expect(priceWords({ tierPrice })).toBe(words);
});
