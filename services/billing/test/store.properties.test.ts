import { randomUUID } from "node:crypto";
import type { DomainError } from "@nodeloom/kernel";
import fc from "fast-check";
import { createBilling, type Billing } from "../src/billing";
import type { BillingStore } from "../src/store";
import { logger, ownStore, type OwnStore } from "./support/database";

/**
 * The account's guarantees for the whole service: two processes, real concurrency, and a database whose operations can fail before or after
 * they take effect.
 */

const DAY_MS = 86_400_000;
const LONG_MS = 60_000;
const FUNDS = 1_000;

let own: OwnStore;
beforeAll(async () => {
  own = await ownStore();
});
afterAll(() => own.stop());

type Ask = (billing: Billing, userId: string) => Promise<unknown>;

const id = fc.integer({ min: 1, max: 6 }).map((number) => `e${number}`);
const amount = fc.integer({ min: 0, max: 300 });
const until = (): number => Date.now() + LONG_MS;
const hold = fc.record({ executionId: id, price: amount, grant: fc.boolean() }).map(({ executionId, price, grant }): [string, Ask] => [
  `hold:${executionId}`,
  (billing, userId) => {
    const items = [
      { key: "a", model: grant ? "painter" : "m", maxMillicredits: price },
      { key: "b", model: "m", maxMillicredits: price },
    ];
    return billing.hold({ userId, executionId, items, maxActive: 4 }, until());
  },
]);
const settle = fc
  .record({ executionId: id, captured: amount, captureAll: fc.boolean() })
  .map(({ executionId, captured, captureAll }): [string, Ask] => [
    `settle:${executionId}`,
    (billing, userId) =>
      billing.settle(
        { userId, executionId, items: [{ key: "a", captureMillicredits: captured, consumeGrant: captured > 0 }], captureAll },
        until(),
      ),
  ]);
const credit = fc
  .record({ reference: fc.constantFrom("r1", "r2", "r3"), millicredits: fc.integer({ min: -400, max: 400 }) })
  .map(({ reference, millicredits }): [string, Ask] => [
    "credit",
    (billing, userId) => billing.credit({ userId, credit: { kind: "adjust", millicredits }, note: "", reference }, until()),
  ]);
const renew = fc.constant<[string, Ask]>(["renew", (billing) => billing.renewDue({ limit: 50, cursor: "" }, until())]);
const readAsk = fc.constant<[string, Ask]>(["read", (billing, userId) => billing.ledgerPage({ userId, limit: 5, cursor: "" })]);
const askArbitrary = fc.oneof(
  { arbitrary: hold, weight: 6 },
  { arbitrary: settle, weight: 6 },
  { arbitrary: credit, weight: 2 },
  { arbitrary: renew, weight: 1 },
  { arbitrary: readAsk, weight: 1 },
);
/** Commands of a wave run concurrently. A month can pass afterwards. */
const wave = fc.record({ asks: fc.array(askArbitrary, { minLength: 1, maxLength: 8, size: "max" }), monthLater: fc.boolean() });

/** Fails operations by the test's random numbers. Half of the failures come after the operation took effect. */
const flaky = (store: BillingStore, chances: readonly number[]): BillingStore => {
  let count = 0;
  const wrapped = Object.entries(store).map(([name, operation]) => [
    name,
    async (...args: unknown[]): Promise<unknown> => {
      const chance = chances[count++ % chances.length]!;
      if (chance === 0) throw new Error("lost before it was done");
      const result = await (operation as (...args: unknown[]) => Promise<unknown>)(...args);
      if (chance === 1) throw new Error("done, and lost");
      return result;
    },
  ]);
  return Object.fromEntries(wrapped) as BillingStore;
};

const isRefusal = (error: unknown): error is DomainError =>
  error instanceof Error && "reason" in error && error.reason !== "SERVICE_UNAVAILABLE";

it("stays exact with two processes, lost writes and lost replies", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(wave, { minLength: 3, maxLength: 8, size: "max" }),
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 40, maxLength: 40 }).filter((chances) => chances.some((chance) => chance > 1)),
      async (waves, chances) => {
        const userId = randomUUID();
        let now = Date.now();
        const clock = (): Date => new Date(now);
        const [one, other] = [chances, [...chances].reverse()].map((own_) =>
          createBilling({ store: flaky(own.store, own_), logger, clock }),
        ) as [Billing, Billing];
        const steady = createBilling({ store: own.store, logger, clock });
        const trials = [{ model: "painter", runs: 2 }];
        await steady.setPlan({ userId, tier: "pro", monthlyMillicredits: FUNDS, trials, reference: "approved" }, until());
        const answers = new Map<string, string>();
        for (const { asks, monthLater } of waves) {
          await Promise.all(
            asks.map(async ([name, ask], index) => {
              const reply = await ask(index % 2 ? one : other, userId).catch((error: unknown) => {
                // After any other error the outcome is unknown.
                if (!isRefusal(error) && !/lost/.test(String(error)) && !/SERVICE_UNAVAILABLE|busy/.test(String(error))) throw error;
                return undefined;
              });
              if (reply === undefined || !/^(hold|settle):/.test(name)) return;
              const replyJson = JSON.stringify(reply);
              expect(answers.get(name) ?? replyJson).toBe(replyJson);
              answers.set(name, replyJson);
            }),
          );
          if (monthLater) now += 32 * DAY_MS;
        }
        await Promise.all([one.stop(), other.stop()]);

        const { mismatches } = await steady.checkLedger({ cursor: "" }, until());
        expect(mismatches).toEqual([]);
        const account = (await own.store.load(userId))!;
        for (const value of [account.plan, account.topUp, account.held]) expect(value).toBeGreaterThanOrEqual(0);
        const { rows } = await steady.ledgerPage({ userId, limit: 200, cursor: "" });
        for (const kind of ["hold", "capture", "release"]) {
          const executions = rows.filter((row) => row.kind === kind).map((row) => row.executionId);
          expect(new Set(executions).size).toBe(executions.length);
        }
        for (const [name, replyJson] of answers) {
          const [kind, executionId] = name.split(":");
          if (kind !== "settle") continue;
          const captured = rows.filter((row) => row.kind === "capture" && row.executionId === executionId);
          const total = captured.reduce((sum, row) => sum - row.millicredits, 0);
          expect(total).toBe((JSON.parse(replyJson) as { capturedMillicredits: number }).capturedMillicredits);
        }
        await steady.stop();
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
});
