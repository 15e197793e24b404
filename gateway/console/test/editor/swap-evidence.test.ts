import { nodeMs, sumsOf, verdictOf, type Pair, type Side } from "../../src/editor/swap/evidence";

const MODELS = { now: "Fast", before: "Fine" };
const side = (price: number, ms: number | undefined, more: Partial<Side> = {}): Side => ({
  ...{ status: "passed", failures: [], price, ms, given: undefined },
  ...more,
});
const failed = { kind: "contains" as const, expected: "a", got: "b" };
const broken = { kind: "status" as const, expected: "completed", got: "failed" };
const pair = (id: number, now: Side, before?: Side): Pair => ({ id: String(id), name: String(id), now, before });
const pairs = (count: number, now: Side, before?: Side): Pair[] => Array.from({ length: count }, (_, id) => pair(id, now, before));

describe("the verdict about another model", () => {
  it("names pairs, passed tests, cost and time of both models, and cautions if pairs are few", () => {
    const all = [
      ...pairs(2, side(1, 500), side(2, 1_000)),
      pair(9, side(1, 500), side(2, 1_000, { status: "failed", failures: [failed] })),
    ];
    expect(verdictOf(all, true, MODELS)).toBe(
      "In 3 pairs, Fast passes 3 of 3 tests (Fine: 2), it costs 50% less (3 instead of 6 credits), it takes 50% less time (1.5 s instead of 3.0 s); these are too few pairs to expect the same of other inputs.",
    );
  });

  it("has no caution for enough pairs with expectations, and asks to look where no expectation checks results", () => {
    expect(verdictOf(pairs(6, side(2, 10), side(2, 10)), true, MODELS)).toBe(
      "In 6 pairs, Fast passes 6 of 6 tests (Fine: 6), it costs the same, it takes as long.",
    );
    expect(verdictOf(pairs(6, side(2, 10), side(2, 10)), false, MODELS)).toMatch(/; no expectation checks the results, so look at them\.$/);
  });

  it("compares cost and time only over pairs in which both runs completed", () => {
    const all = [pair(1, side(1, 5), side(2, 5)), pair(2, side(0, undefined, { status: "failed", failures: [broken] }), side(9, 9))];
    expect(sumsOf(all, true)).toEqual({ pairs: 2, cost: { now: 1, before: 2 }, ms: { now: 5, before: 5 }, passed: { now: 1, before: 2 } });
  });

  it("says that nothing speaks for a model without results", () => {
    const all = pairs(3, side(0, undefined, { status: "failed", failures: [broken] }), side(1, 1));
    expect(verdictOf(all, true, MODELS)).toBe("No pair has a result of Fast, so nothing speaks for it.");
  });

  it("claims no change where the current model didn't run, cost nothing, or has an unknown time", () => {
    expect(verdictOf(pairs(6, side(3, 50)), true, MODELS)).toBe(
      "In 6 pairs, Fast passes 6 of 6 tests, it costs 18 credits, it takes 300 ms.",
    );
    expect(verdictOf(pairs(6, side(3, 50), side(0, undefined)), true, MODELS)).toBe(
      "In 6 pairs, Fast passes 6 of 6 tests (Fine: 6), it costs 18 instead of 0 credits, it takes 300 ms.",
    );
  });
});

it("a reused node has the time of the run that made its calls", () => {
  const state = { type: "generate-image", status: "completed", startedAt: null, creditsCost: 0, error: null } as const;
  const reused = { nodes: [{ ...state, id: "a", durationMs: 3, outputs: { image: [] }, reusedFrom: "first" }] };
  const first = {
    nodes: [
      { ...state, id: "a", durationMs: 900 },
      { ...state, id: "b", durationMs: 7 },
    ],
  };
  expect(nodeMs(reused, "a", new Map([["first", first]]))).toBe(900);
  expect(nodeMs(reused, "a", new Map())).toBeUndefined();
  expect(nodeMs(first, "a", new Map())).toBe(900);
});
