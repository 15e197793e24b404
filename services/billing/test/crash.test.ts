import { randomUUID } from "node:crypto";
import { type DomainError } from "@nodeloom/kernel";
import { deferred } from "../../../test-support/deferred";
import { createLooks } from "../../../test-support/looks";
import { createBilling, type Billing } from "../src/billing";
import type { BillingStore } from "../src/store";
import { logger, ownStore, type OwnStore } from "./support/database";

const DEADLINE_MS = 10_000;
const FUNDS = 10_000;

let own: OwnStore;
let store: BillingStore;
beforeAll(async () => {
  own = await ownStore();
  ({ store } = own);
});
afterAll(() => own.stop());

type Moment = "before" | "after";
const never = new Promise<never>(() => undefined);

/**
 * A store whose process crashes at its n-th operation. The operation may or may not complete, its reply is lost, and no operation follows.
 */
const dyingStore = (deathAt: number, moment: Moment): { store: BillingStore; died: Promise<void>; operations: () => number } => {
  let count = 0;
  const { promise: died, resolve: die } = deferred();
  const mortal = Object.entries(store).map(([name, operation]) => [
    name,
    async (...args: unknown[]): Promise<unknown> => {
      const mine = ++count;
      if (mine > deathAt) return never;
      if (mine === deathAt && moment === "before") {
        die();
        return never;
      }
      const result = await (operation as (...args: unknown[]) => Promise<unknown>)(...args);
      if (mine < deathAt) return result;
      die();
      return never;
    },
  ]);
  return { store: Object.fromEntries(mortal) as BillingStore, died, operations: () => count };
};

const deadline = (): number => Date.now() + DEADLINE_MS;

/** Every billing call of a user's life. */
const life = async (billing: Billing, userId: string): Promise<void> => {
  const items = (price: number) => [{ key: "n:0", model: "painter", maxMillicredits: price }];
  const trials = [{ model: "painter", runs: 1 }];
  await billing.setPlan({ userId, tier: "pro", monthlyMillicredits: 500, trials, reference: "approved" }, deadline());
  await billing.credit({ userId, credit: { kind: "topup", millicredits: FUNDS }, note: "", reference: "paid" }, deadline());
  const metadata = { name: "customer", value: "*" };
  const scope = { type: "metadata", ...metadata } as const;
  await billing.setBudget({ userId, scope, millicredits: FUNDS, window: "total", alertAt: [] }, deadline());
  await billing.hold({ userId, executionId: `${userId}-1`, items: items(300), maxActive: 1 }, deadline());
  await billing.settle(
    { userId, executionId: `${userId}-1`, items: [{ key: "n:0", captureMillicredits: 1, consumeGrant: true }], captureAll: false },
    deadline(),
  );
  // Reading the ledger drains the outbox between commands.
  await billing.ledgerPage({ userId, limit: 1, cursor: "" });
  const subject = { keyId: "", workflowSlug: "", metadata: { customer: "acme" } };
  await billing.hold({ userId, executionId: `${userId}-2`, items: items(800), maxActive: 1, subject }, deadline());
  await billing.settle(
    { userId, executionId: `${userId}-2`, items: [{ key: "n:0", captureMillicredits: 600, consumeGrant: false }], captureAll: false },
    deadline(),
  );
  await billing.settle({ userId, executionId: `${userId}-3`, items: [], captureAll: false }, deadline());
  const late = await billing
    .hold({ userId, executionId: `${userId}-3`, items: items(1), maxActive: 1 }, deadline())
    .catch((error: unknown) => error);
  expect(late).toMatchObject({ reason: "PRECONDITION_FAILED" } satisfies Partial<DomainError>);
};

const expectLivedOnce = async (billing: Billing, userId: string): Promise<void> => {
  expect(await billing.account({ userId })).toMatchObject({
    plan: 0,
    topUp: FUNDS - 100,
    held: 0,
    holds: [],
    grants: [{ model: "painter", total: 1, remaining: 0 }],
  });
  const { rows } = await billing.ledgerPage({ userId, limit: 100, cursor: "" });
  expect(rows.reduce((sum, row) => sum + row.millicredits, 0)).toBe(FUNDS - 100);
  expect(rows.map((row) => row.kind).sort()).toEqual(
    ["plan_renewal", "grant", "topup", "hold", "grant", "capture", "hold", "capture", "release", "release"].sort(),
  );
};

/** A minute later, the counter equals the captures, because reservations of holds that were never stored are returned. */
const expectCountedOnce = async (userId: string): Promise<void> => {
  const later = createBilling({ store, logger, clock: () => new Date(Date.now() + 2 * 60_000) });
  for (const rows of later.relayed) await createLooks(rows)();
  const [budget] = await later.budgets({ userId, of: { name: "customer", value: "acme" } });
  expect(budget).toMatchObject({ ofValue: "acme", used: { total: 600 } });
  expect(await store.findDueCounters(new Date(8.64e15), 10)).toEqual([]);
};

const countOperations = async (): Promise<number> => {
  const { store: counted, operations } = dyingStore(Number.POSITIVE_INFINITY, "before");
  const billing = createBilling({ store: counted, logger });
  await life(billing, `user-${randomUUID()}`);
  await billing.stop();
  return operations();
};

it.each<Moment>(["before", "after"])(
  "loses and duplicates nothing if the process dies %s any of its database operations",
  async (moment) => {
    const operations = await countOperations();
    expect(operations).toBeGreaterThan(15);
    for (let deathAt = 1; deathAt <= operations; deathAt++) {
      const userId = `user-${randomUUID()}`;
      const { store: mortal, died } = dyingStore(deathAt, moment);
      const victim = createBilling({ store: mortal, logger });
      await Promise.race([died, life(victim, userId).then(() => victim.stop())]);

      const successor = createBilling({ store, logger });
      await life(successor, userId);
      await expectLivedOnce(successor, userId);
      await successor.stop();
      await expectCountedOnce(userId);
    }
    const auditor = createBilling({ store, logger });
    expect(await auditor.checkLedger({ cursor: "" })).toMatchObject({ mismatches: [] });
  },
);

it("drains the rows that a dead process left in the outboxes", async () => {
  const userId = `user-${randomUUID()}`;
  const writesOfOneTopUp = 3;
  const { store: mortal, died } = dyingStore(writesOfOneTopUp, "after");
  const victim = createBilling({ store: mortal, logger });
  void victim.credit({ userId, credit: { kind: "topup", millicredits: 5 }, note: "", reference: "paid" }).catch(() => undefined);
  await died;
  expect((await store.load(userId))!.outbox).toHaveLength(1);
  expect((await createBilling({ store, logger }).checkLedger({ cursor: "" })).mismatches).toEqual([]);

  for (const rows of createBilling({ store, logger }).relayed) await createLooks(rows)();
  expect((await store.load(userId))!.outbox).toEqual([]);
  expect(await store.listRows(userId, Number.MAX_SAFE_INTEGER, 10)).toMatchObject([{ kind: "topup", millicredits: 5 }]);
});
