import { models } from "@nodeloom/proto";
import { price, priceView, toStoredPrice, type PriceView } from "../../src/routes/models/prices";

const VIEWS: [string, PriceView][] = [
  ["run", { perRunUsd: 0.28 }],
  ["picture", { perImageUsd: 0.02 }],
  ["second", { perSecondUsd: 0.05 }],
  ["thousand characters", { perThousandCharactersUsd: 0.1 }],
  ["million tokens", { inputUsdPerMillionTokens: 0.15, outputUsdPerMillionTokens: 0.6 }],
];

describe("a price", () => {
  it.each(VIEWS)("per %s is the same after it was stored", (_unit, view) => {
    expect(price.parse(view)).toEqual(view);
    const stored = models.Price.decode(models.Price.encode(toStoredPrice(view)).finish());
    expect(priceView(stored)).toEqual(view);
  });

  it("has one unit", () => {
    expect(price.safeParse({ perRunUsd: 1, perThousandCharactersUsd: 1 }).success).toBe(false);
  });
});
