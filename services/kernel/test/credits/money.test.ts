import fc from "fast-check";
import {
  creditLimit,
  fromCredits,
  fromUsd,
  millicreditsFor,
  tokenCostMicroUsd,
  toCredits,
  toUsd,
  userCostMicroUsd,
} from "@nodeloom/kernel";

it("charges cost times markup, rounded up to a thousandth of a credit", () => {
  expect(millicreditsFor(fromUsd(0.02), 1_500)).toBe(3_000);
  expect(millicreditsFor(fromUsd(0.05) * 3, 1_300)).toBe(19_500);
  expect(millicreditsFor(1, 2_000)).toBe(1);
  expect(millicreditsFor(0, 2_000)).toBe(0);
});

it("never charges less than the user's cost, and at most a thousandth of a credit more", () => {
  fc.assert(
    fc.property(fc.nat(10_000_000_000), fc.integer({ min: 1_000, max: 5_000 }), (cost, markup) => {
      const paidMicroUsd = millicreditsFor(cost, markup) * 10;
      expect(paidMicroUsd).toBeGreaterThanOrEqual((cost * markup) / 1_000);
      expect(paidMicroUsd - userCostMicroUsd(cost, markup)).toBeLessThan(10);
    }),
  );
});

it("prices tokens per million, rounded up", () => {
  expect(tokenCostMicroUsd(1_000_000, 500_000)).toBe(500_000);
  expect(tokenCostMicroUsd(1, 500_000)).toBe(1);
  expect(tokenCostMicroUsd(0, 500_000)).toBe(0);
});

it("round-trips what clients write", () => {
  for (const credits of [0, 0.001, 12.345, 2_000, 50_000.001]) expect(toCredits(fromCredits(credits))).toBe(credits);
  for (const usd of [0.02, 0.000001, 19.99]) expect(toUsd(fromUsd(usd))).toBe(usd);
});

it.each([
  [0, 0],
  [0.0009, 0],
  [1.005, 1_005],
  [0.29, 290],
  [1.2345, 1_234],
  [1.2349999, 1_234],
  [123_456_789.123, 123_456_789_123],
])("converts a limit of %d credits without exceeding it", (credits, millicredits) => {
  expect(creditLimit(credits)).toBe(millicredits);
});
