import { models } from "@nodeloom/proto";
import { price, priceView, tierPrice, tierPriceView, toStoredPrice, type PriceView } from "../../src/routes/models/prices";

const VIEWS: [string, PriceView][] = [
  ["run", { perRunUsd: 0.28 }],
  ["picture", { perImageUsd: 0.02 }],
  ["second", { perSecondUsd: 0.05 }],
  ["thousand characters", { perThousandCharactersUsd: 0.1 }],
  [
    "unit that depends on inputs",
    {
      table: [{ when: { size: ["2K", "4K"], audio: true }, perSecondUsd: 0.4 }, { perSecondUsd: 0.1 }],
      factors: [{ when: { image: { given: true } }, times: 1.5 }],
      actual: [{ at: "/usage/cost", eachUsd: 1 }],
    },
  ],
  ["megapixel", { table: [{ perMegapixelUsd: 0.003 }], megapixels: { size: "size", sizes: { square: [512, 512] }, roundUp: true } }],
  ["million tokens", { inputUsdPerMillionTokens: 0.15, outputUsdPerMillionTokens: 0.6 }],
];

describe("a price", () => {
  it.each(VIEWS)("per %s is the same after it was stored", (_unit, view) => {
    expect(price.parse(view)).toEqual(view);
    const stored = models.Price.decode(models.Price.encode(toStoredPrice(view)).finish());
    expect(priceView(stored)).toEqual(view);
  });

  it("that depends on inputs is shown in a tier's credits, without the provider's prices", () => {
    const [, view] = VIEWS.find(([unit]) => unit.includes("inputs"))!;
    const shownPrice = tierPriceView(toStoredPrice(view), 1_500);
    expect(tierPrice.parse(shownPrice)).toEqual({
      table: [{ when: { size: ["2K", "4K"], audio: true }, perSecondCredits: 60 }, { perSecondCredits: 15 }],
      factors: [{ when: { image: { given: true } }, times: 1.5 }],
    });
  });

  it("has one unit", () => {
    expect(price.safeParse({ perRunUsd: 1, perThousandCharactersUsd: 1 }).success).toBe(false);
  });
});
