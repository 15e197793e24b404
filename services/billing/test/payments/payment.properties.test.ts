import fc from "fast-check";
import { emptyAccount, type Account } from "../../src/account/account";
import { apply } from "../../src/account/command";
import { differences, recompute } from "../../src/ledger/comparison";
import {
  creditsOf,
  emptyPayment,
  inOtherCurrency,
  movementsOf,
  withFact,
  type PaymentFact,
  type Purchase,
  type Stage,
} from "../../src/payments/payment";

/** Events of one payment in any order and number, mixed with runs and ends of months. */

const USER = "user";
const PAYMENT = "pi_1";
const START = new Date("2026-01-31T12:00:00Z");
const DAY_MS = 86_400_000;

const purchaseOf = (millicredits: number, amount: number): Purchase => ({
  ...{ session: "cs_1", checkout: "c", userId: USER, currency: "usd" },
  millicredits,
  amount,
});

interface Story {
  id: string;
  amount: number;
  currency: string;
  /** Stages in order of precedence. */
  stages: Stage[];
}

const story = (prefix: string, index: number, amount: number) =>
  fc.record({
    id: fc.constant(`${prefix}_${index}`),
    amount: fc.integer({ min: 1, max: amount }),
    currency: fc.constantFrom("usd", "usd", "usd", "eur"),
    stages: fc.constantFrom<Stage[]>(["taken"], ["taken", "returned"], ["notice"], ["notice", "taken"], ["notice", "taken", "returned"]),
  });

const payments = fc
  .record({ millicredits: fc.integer({ min: 500_000, max: 100_000_000 }), amount: fc.integer({ min: 50, max: 100_000 }) })
  .chain(({ millicredits, amount }) =>
    fc.record({
      purchase: fc.constant(purchaseOf(millicredits, amount)),
      stories: fc.tuple(story("re", 1, amount), story("re", 2, amount), story("dp", 1, amount)).chain((all) => fc.subarray(all)),
    }),
  );

const factsOf = (purchase: Purchase, stories: readonly Story[]): PaymentFact[] => [
  { payment: PAYMENT, type: "purchase", purchase },
  ...stories.flatMap(({ stages, ...rest }) =>
    stages.map((stage): PaymentFact => ({ payment: PAYMENT, type: "reversal", reversal: { ...rest, stage } })),
  ),
];

/** A fact, a started or settled run, or elapsed time. */
type Step = { fact: PaymentFact } | { run: number; price: number } | { settle: number } | { days: number };

/** Every fact at least once, some repeated, in any order, with other steps in between. */
const steps = (facts: readonly PaymentFact[]) =>
  fc
    .record({
      again: fc.array(fc.constantFrom(...facts), { maxLength: 6 }),
      others: fc.array(
        fc.oneof(
          fc.record({ run: fc.integer({ min: 1, max: 4 }), price: fc.integer({ min: 0, max: 2_000_000 }) }),
          fc.record({ settle: fc.integer({ min: 1, max: 4 }) }),
          fc.record({ days: fc.constantFrom(1, 20, 40) }),
        ),
        { maxLength: 8 },
      ),
    })
    .chain(({ again, others }) => {
      const all: Step[] = [...[...facts, ...again].map((fact) => ({ fact })), ...others];
      return fc.shuffledSubarray(all, { minLength: all.length });
    });

/** Runs the steps like the service: stores each fact and books its movements. */
const play = (played: readonly Step[]): Account => {
  let at = START;
  let payment = emptyPayment(PAYMENT);
  let account: Account = emptyAccount(USER);
  const ledger = () => new Map(account.outbox.map((row) => [row.id, row]));
  const submit = (command: Parameters<typeof apply>[1]): void => {
    // All rows are still in the outbox, so missing ones were never booked.
    const rows = { get: (id: string) => ledger().get(id) ?? null } as unknown as ReadonlyMap<string, never>;
    account = apply(account, { ...command, ledger: rows }).account;
  };
  submit({ type: "setPlan", userId: USER, at, tier: "pro", monthlyMillicredits: 1_000_000, trials: [], reference: "r" });
  for (const step of played) {
    if ("fact" in step) {
      payment = withFact(payment, step.fact);
      submit({ type: "payment", userId: USER, at, movements: movementsOf(payment) });
    } else if ("run" in step) {
      const items = [{ key: "n:0", model: "m", maxMillicredits: step.price }];
      submit({ type: "hold", userId: USER, at, executionId: `e${step.run}`, items, maxActive: 0 });
    } else if ("settle" in step) {
      submit({ type: "settle", userId: USER, at, executionId: `e${step.settle}`, items: [], captureAll: true });
    } else at = new Date(at.getTime() + step.days * DAY_MS);
    expect(differences(account, recompute([], account.outbox))).toEqual([]);
  }
  return account;
};

const rowsOf = ({ outbox }: Account): Record<string, number> =>
  Object.fromEntries(outbox.filter(({ id }) => id.startsWith("stripe:")).map(({ id, millicredits }) => [id, millicredits]));

it("credits the same amount to the milli-credit in any order, with repetitions and between any runs, and never takes more than was bought", () => {
  fc.assert(
    fc.property(
      payments.chain(({ purchase, stories }) => {
        const facts = factsOf(purchase, stories);
        return fc.record({ purchase: fc.constant(purchase), stories: fc.constant(stories), orders: fc.tuple(steps(facts), steps(facts)) });
      }),
      ({ purchase, stories, orders }) => {
        const counted = stories.filter(({ currency, stages }) => currency === "usd" && stages.at(-1) === "taken");
        const paidBack = counted.reduce((sum, { amount }) => sum + amount, 0);
        const expected = purchase.millicredits - creditsOf(purchase, paidBack);
        for (const order of orders) {
          const booked = Object.values(rowsOf(play(order)));
          expect(booked.reduce((sum, millicredits) => sum + millicredits, 0)).toBe(expected);
        }
      },
    ),
    { numRuns: 150 },
  );
});

it("never takes more credits for a partial refund than were bought, nor loses one after a full refund", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000_000 }),
      fc.integer({ min: 1, max: 10_000_000 }),
      fc.nat(),
      (millicredits, paidAmount, part) => {
        const purchase = purchaseOf(millicredits, paidAmount);
        expect(creditsOf(purchase, paidAmount)).toBe(millicredits);
        const first = part % (paidAmount + 1);
        const both = creditsOf(purchase, first) + creditsOf(purchase, paidAmount - first);
        expect(both).toBeLessThanOrEqual(millicredits);
        expect(both).toBeGreaterThanOrEqual(millicredits - 1);
      },
    ),
  );
});

it("leaves a refund in another currency to a person", () => {
  const purchase = purchaseOf(1_000_000, 1_000);
  const facts = factsOf(purchase, [{ id: "dp_1", amount: 900, currency: "eur", stages: ["taken"] }]);
  const payment = facts.reduce(withFact, emptyPayment(PAYMENT));
  expect(movementsOf(payment)).toHaveLength(1);
  expect(inOtherCurrency(payment)).toMatchObject([{ id: "dp_1" }]);
});
