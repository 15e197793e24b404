import fc from "fast-check";
import { emptyAccount, type Account } from "../../src/account/account";
import { apply, type Command } from "../../src/account/command";
import type { HoldItem } from "../../src/account/allocate";
import type { SettleReply } from "../../src/account/settle";

/** Only one of several alternatives runs. The hold covers the most expensive one, and the charge is for the one that ran. */

const AT = new Date("2026-01-10T12:00:00Z");
const common = { userId: "u", executionId: "e.1", at: AT };

const applied = (account: Account, command: Command): { account: Account; reply: unknown } => {
  const { account: next, outcome } = apply(account, command);
  if (outcome.kind !== "done") throw new Error(JSON.stringify(outcome));
  return { account: next, reply: outcome.reply };
};

const accountOf = (topUp: number, grants: Record<string, number> = {}): Account => ({
  ...emptyAccount("u"),
  topUp,
  grants: Object.entries(grants).map(([model, remaining]) => ({ model, total: remaining, remaining })),
});

const group = (...prices: number[]): HoldItem[] =>
  prices.map((maxMillicredits, place) => ({
    key: place === 0 ? "n:0" : `n:0.alt${place}`,
    model: `m${place}`,
    maxMillicredits,
    ...(place === 0 ? {} : { alternativeTo: "n:0" }),
  }));

const settle = (account: Account, key: string, captureMillicredits: number): { account: Account; reply: SettleReply } => {
  const items = [{ key, captureMillicredits, consumeGrant: true }];
  return applied(account, { type: "settle", ...common, items, captureAll: false }) as { account: Account; reply: SettleReply };
};
const hold = (account: Account, items: HoldItem[]): Account => applied(account, { type: "hold", ...common, items, maxActive: 0 }).account;

it("holds only the most expensive one", () => {
  expect(hold(accountOf(100), group(10, 40, 20))).toMatchObject({ held: 40, topUp: 60 });
});

it("captures the cost under the called model, and releases the rest", () => {
  const { account, reply } = settle(hold(accountOf(100), group(10, 40, 20)), "n:0.alt2", 15);
  expect(account).toMatchObject({ held: 0, topUp: 85 });
  expect(reply.captured).toEqual([expect.objectContaining({ key: "n:0.alt2", model: "m2", millicredits: 15 })]);
});

it("uses the grant of the called model, and releases those of the others", () => {
  const heldAccount = hold(accountOf(100, { m0: 2, m2: 1 }), group(10, 40, 20));
  expect(heldAccount).toMatchObject({ held: 40, grants: [{ remaining: 1 }, { remaining: 0 }] });
  expect(settle(heldAccount, "n:0.alt2", 0).account).toMatchObject({ topUp: 100, grants: [{ remaining: 2 }, { remaining: 0 }] });
  expect(settle(heldAccount, "n:0.alt1", 30).account).toMatchObject({ topUp: 70, grants: [{ remaining: 2 }, { remaining: 1 }] });
});

it("never charges for more than one of them, nor more than the hold, whatever it should capture", () => {
  const price = fc.integer({ min: 0, max: 50 });
  const places = fc.array(price, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(
      places,
      fc.array(fc.tuple(fc.nat(4), price)),
      fc.dictionary(fc.constantFrom("m0", "m1", "m2"), fc.nat(2)),
      (prices, settlements, grants) => {
        const before = accountOf(1_000, grants);
        const items = group(...prices);
        const amounts = new Map(settlements.map(([place, amount]) => [items[place % items.length]!.key, amount]));
        const command: Command = {
          ...{ type: "settle", ...common, captureAll: false },
          items: [...amounts].map(([key, captureMillicredits]) => ({ key, captureMillicredits, consumeGrant: false })),
        };
        const { account, reply } = applied(hold(before, items), command);
        const charged = 1_000 - account.topUp;
        expect(account.held).toBe(0);
        expect(charged).toBeLessThanOrEqual(Math.max(...prices));
        expect((reply as SettleReply).captured.filter(({ millicredits }) => millicredits > 0).length).toBeLessThanOrEqual(1);
      },
    ),
  );
});
