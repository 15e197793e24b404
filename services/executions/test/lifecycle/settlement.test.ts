import { millicreditsFor, userCostMicroUsd } from "@nodeloom/kernel";
import fc from "fast-check";
import type { CompletedCall, FinalStatus, HeldItem, RunError } from "../../src/run/types";
import { chargeFor } from "../../src/run/charge";

const MARKUP = 1_500;
const heldItems: HeldItem[] = [
  { key: "a:0", source: "credits", millicredits: 3_000 },
  { key: "a:1", source: "credits", millicredits: 3_000 },
  { key: "b:0", source: "grant", millicredits: 0 },
];
const call = (key: string, costMicroUsd: number): CompletedCall => ({ key, nodeId: key.split(":")[0]!, costMicroUsd });
const failed = (code: RunError["code"]): RunError => ({ code, message: "x" });
const captured = (charge: ReturnType<typeof chargeFor>): number => charge.items.reduce((sum, item) => sum + item.captureMillicredits, 0);

describe("the settlement table", () => {
  it.each<[string, FinalStatus, RunError | null, CompletedCall[], number, string[], number, number]>([
    // Name, status, error, completed, captured, grants consumed, cost, user cost.
    [
      "a completed run pays what was used",
      "completed",
      null,
      [call("a:0", 20_000), call("a:1", 10_000), call("b:0", 5_000)],
      4_500,
      ["b:0"],
      35_000,
      45_000,
    ],
    ["a failed run pays the calls that completed", "failed", failed("EXECUTION_FAILED"), [call("a:0", 20_000)], 3_000, [], 20_000, 30_000],
    ["a refused submission is free", "failed", failed("PROVIDER_SUBMIT_FAILED"), [], 0, [], 0, 0],
    [
      "a run without the expected output is free altogether",
      "failed",
      failed("PROVIDER_RESPONSE_INCOMPLETE"),
      [call("a:0", 20_000), call("b:0", 5_000)],
      0,
      [],
      0,
      0,
    ],
    ["a run that is cancelled before anything was submitted pays nothing", "cancelled", null, [], 0, [], 0, 0],
    [
      "a cancelled run pays what completed at what it cost",
      "cancelled",
      null,
      [call("a:0", 10_000), call("b:0", 5_000)],
      1_500,
      ["b:0"],
      15_000,
      15_000,
    ],
    ["a call never costs more than its hold", "completed", null, [call("a:0", 90_000)], 3_000, [], 90_000, 30_000],
  ])("%s", (_, status, error, completed, expected, grants, cost, userCost) => {
    const charge = chargeFor({ status, error, completed }, heldItems, MARKUP);
    expect(captured(charge)).toBe(expected);
    expect(charge.items.filter((item) => item.consumeGrant).map((item) => item.key)).toEqual(grants);
    expect([charge.costMicroUsd, charge.userCostMicroUsd]).toEqual([cost, userCost]);
  });

  it("charges unfinished calls at their held price, only for a cancelled run", () => {
    const end = { error: null, completed: [call("a:0", 10_000)], underWay: ["a:0", "a:1", "b:0", "ghost:0"] };
    const cancelled = chargeFor({ ...end, status: "cancelled" }, heldItems, MARKUP);
    expect(captured(cancelled)).toBe(1_500 + 3_000);
    expect(cancelled.items.filter((item) => item.consumeGrant).map((item) => item.key)).toEqual(["b:0"]);
    expect(captured(chargeFor({ ...end, status: "failed" }, heldItems, MARKUP))).toBe(1_500);
  });

  it("never captures more than the hold, and only for held calls", () => {
    const key = fc.constantFrom("a:0", "a:1", "b:0", "ghost:0");
    fc.assert(
      fc.property(
        fc.constantFrom<FinalStatus>("completed", "failed", "cancelled"),
        fc.uniqueArray(fc.record({ key, cost: fc.nat(1_000_000) }), { selector: (one) => one.key }),
        (status, calls) => {
          const charge = chargeFor(
            {
              status,
              error: status === "failed" ? failed("EXECUTION_FAILED") : null,
              completed: calls.map((one) => call(one.key, one.cost)),
            },
            heldItems,
            MARKUP,
          );
          for (const item of charge.items) {
            const hold = heldItems.find((one) => one.key === item.key);
            expect(hold).toBeDefined();
            expect(item.captureMillicredits).toBeLessThanOrEqual(hold!.millicredits);
          }
        },
      ),
    );
  });

  it("rounds the price of a run up once, and its parts add up, for all prices, markups and fan-outs", () => {
    const calls = fc.array(
      fc.record({ node: fc.constantFrom("a", "b", "c"), worst: fc.nat(5_000), cost: fc.nat(6_000), grant: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 50,
      },
    );
    fc.assert(
      fc.property(calls, fc.integer({ min: 1_000, max: 3_000 }), (all, markup) => {
        const key = ({ node }: (typeof all)[number], index: number): string => `${node}:${index}`;
        const holds = all.map((one, index): HeldItem => {
          const millicredits = one.grant ? 0 : millicreditsFor(one.worst, markup);
          return { key: key(one, index), source: one.grant ? "grant" : "credits", millicredits };
        });
        const completed = all.map((one, index) => ({ key: key(one, index), nodeId: one.node, costMicroUsd: one.cost }));
        const charge = chargeFor({ status: "completed", error: null, completed }, holds, markup);
        const costs = all.map((one, index) => Math.min(userCostMicroUsd(one.cost, markup), holds[index]!.millicredits * 10));
        const total = costs.reduce((sum, one) => sum + one, 0);
        expect(charge.userCostMicroUsd).toBe(total);
        expect(captured(charge)).toBe(Math.ceil(total / 10));
        for (const [index, item] of charge.items.entries()) {
          expect(item.captureMillicredits).toBeGreaterThanOrEqual(0);
          expect(item.captureMillicredits).toBeLessThanOrEqual(Math.ceil(costs[index]! / 10));
          expect(item.consumeGrant).toBe(all[index]!.grant);
        }
      }),
    );
  });
});
