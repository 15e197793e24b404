import { randomUUID } from "node:crypto";
import { createBilling, type Billing } from "../../src/billing";
import { createAudit, type LedgerCheck } from "../../src/ledger/audit";
import { sum } from "../../src/ledger/comparison";
import { BILLING_LIMITS } from "../../src/limits";
import { logger, ownStore, type OwnStore } from "../support/database";

const USERS = Array.from({ length: 120 }, (_, index) => `user-${String(index).padStart(3, "0")}`);
const VICTIM = "user-077";
const deadline = (): number => Date.now() + 30_000;

let own: OwnStore;
let billing: Billing;
beforeEach(async () => {
  own = await ownStore();
  billing = createBilling({ store: own.store, logger });
});
afterEach(async () => {
  await billing.stop();
  await own.stop();
});

/** An account with movements of every kind, and credits on hold. */
const live = async (userId: string): Promise<void> => {
  const items = (max: number) => [
    { key: "a", model: "painter", maxMillicredits: max },
    { key: "b", model: "singer", maxMillicredits: max },
  ];
  await billing.setPlan(
    { userId, tier: "pro", monthlyMillicredits: 1_000, trials: [{ model: "painter", runs: 2 }], reference: "r" },
    deadline(),
  );
  await billing.credit({ userId, credit: { kind: "topup", millicredits: 500 }, note: "", reference: "paid" }, deadline());
  await billing.hold({ userId, executionId: "1", items: items(400), maxActive: 0 }, deadline());
  await billing.settle(
    { userId, executionId: "1", items: [{ key: "b", captureMillicredits: 150, consumeGrant: false }], captureAll: false },
    deadline(),
  );
  await billing.hold({ userId, executionId: "2", items: items(300), maxActive: 0 }, deadline());
  await billing.ledgerPage({ userId, limit: 1, cursor: "" });
};
const row = (kind: string) => ({ userId: VICTIM, kind });
const accounts = () => own.connection.collection<{ _id: string }>("accounts");
const ledger = () => own.connection.collection("ledger");
const check = (cursor = "") => billing.checkLedger({ cursor }, deadline());

it.each<[string, () => Promise<unknown>, object[]]>([
  [
    "a balance that was raised",
    () => accounts().updateOne({ _id: VICTIM }, { $inc: { topUp: 7 } }),
    [{ what: "balance", expected: 1_350, actual: 1_357 }],
  ],
  [
    "a balance that is negative",
    () => accounts().updateOne({ _id: VICTIM }, { $inc: { topUp: -600, plan: 600 } }),
    [{ what: "amount", actual: -100 }],
  ],
  [
    "credits that are held for nothing",
    () => accounts().updateOne({ _id: VICTIM }, { $inc: { held: 5, topUp: -5 } }),
    [{ what: "held", expected: 300, actual: 305 }],
  ],
  [
    "a hold that is gone",
    () => accounts().updateOne({ _id: VICTIM }, { $set: { holds: [] } }),
    [{ what: "holds", expected: 300, actual: 0 }],
  ],
  [
    "a trial run too many",
    () => accounts().updateOne({ _id: VICTIM }, { $inc: { "grants.0.remaining": 1 } }),
    [{ what: "grant", model: "painter", expected: 1, actual: 2 }],
  ],
  [
    "a row that was changed",
    () => ledger().updateOne(row("capture"), { $inc: { millicredits: 100 } }),
    [
      { what: "balance", expected: 1_450, actual: 1_350 },
      { what: "held", expected: 400, actual: 300 },
      { what: "holds", expected: 400, actual: 300 },
    ],
  ],
  ["a row that was deleted", () => ledger().deleteOne(row("hold")), [{ what: "rows" }, { what: "held" }, { what: "holds" }]],
  ["an account that is gone", () => accounts().deleteOne({ _id: VICTIM }), [{ what: "account", expected: 1_350, actual: 0 }]],
])("reports %s", async (_, corrupt, expected) => {
  await Promise.all([VICTIM, "user-076", "user-078"].map(live));
  expect(await check()).toEqual({ accounts: 3, mismatches: [], staleHolds: [], nextCursor: "" });
  // Rows in transit would be written again.
  await billing.stop();
  await corrupt();
  const { mismatches } = await check();
  expect(mismatches).toMatchObject(expected.map((one) => ({ userId: VICTIM, ...one })));
});

it("checks every account on every page, also under load", async () => {
  await Promise.all(
    USERS.map((userId) => billing.credit({ userId, credit: { kind: "topup", millicredits: 5 }, note: "", reference: "paid" }, deadline())),
  );
  const busy = USERS.map(async (userId) => {
    for (let index = 0; index < 3; index++) {
      await billing.hold(
        { userId, executionId: `${index}`, items: [{ key: "a", model: "m", maxMillicredits: 1 }], maxActive: 0 },
        deadline(),
      );
      await billing.settle({ userId, executionId: `${index}`, items: [], captureAll: index === 1 }, deadline());
    }
  });
  const checks = [check(), check()];
  await Promise.all(busy);
  for (const result of [...(await Promise.all(checks)), await check()]) {
    expect(result).toMatchObject({ accounts: USERS.length, mismatches: [], nextCursor: "" });
  }
  await accounts().updateMany({ _id: { $in: [USERS[0]!, USERS[60]!, USERS[119]!] } }, { $inc: { plan: 1 } });
  expect((await check()).mismatches.map(({ userId }) => userId)).toEqual([USERS[0], USERS[60], USERS[119]]);
});

it("stops before its deadline, and continues where it stopped", async () => {
  await Promise.all(
    USERS.map((userId) => billing.credit({ userId, credit: { kind: "topup", millicredits: 5 }, note: "", reference: "paid" }, deadline())),
  );
  const accountCounts: number[] = [];
  let cursor = "";
  do {
    const part = await billing.checkLedger({ cursor }, Date.now());
    accountCounts.push(part.accounts);
    cursor = part.nextCursor;
  } while (cursor);
  expect(accountCounts.length).toBeGreaterThan(1);
  expect(accountCounts.reduce((sum, count) => sum + count, 0)).toBe(USERS.length);
});

it("stops within an account with many rows, and continues there, while the account goes on changing", async () => {
  const [before, large, last] = [USERS[0]!, USERS[1]!, USERS[2]!];
  await Promise.all([before, large, last].map(live));
  const audit = createAudit({ store: own.store, clock: () => new Date(), rowsAtOnce: 12 });
  const use = async (times: number): Promise<void> => {
    for (let index = 0; index < times; index += 1) {
      const executionId = randomUUID();
      await billing.hold({ userId: large, executionId, items: [{ key: "a", model: "m", maxMillicredits: 3 }], maxActive: 0 }, deadline());
      await billing.settle({ userId: large, executionId, items: [], captureAll: true }, deadline());
    }
  };
  /** Each call has time for one step. */
  const checkAll = async (isFull: boolean) => {
    const calls: LedgerCheck[] = [];
    for (let cursor = ""; calls.length === 0 || cursor !== ""; cursor = calls.at(-1)!.nextCursor) {
      calls.push(await audit.check(cursor, isFull, Date.now()));
      await use(1);
    }
    return {
      calls: calls.length,
      accounts: sum(calls.map(({ accounts }) => accounts)),
      found: calls.flatMap(({ mismatches }) => mismatches),
    };
  };
  await use(30);
  await billing.ledgerPage({ userId: large, limit: 1, cursor: "" });
  for (const isFull of [false, true]) {
    const checked = await checkAll(isFull);
    expect(checked).toMatchObject({ accounts: 3, found: [] });
    expect(checked.calls).toBeGreaterThan(5);
  }
  await ledger().updateOne({ userId: large, sequence: 20 }, { $inc: { runs: 1, millicredits: 5 } });
  expect((await checkAll(true)).found).toMatchObject([
    { userId: large, what: "balance" },
    { userId: large, what: "held" },
    { userId: large, what: "holds" },
  ]);
  // An abandoned check leaves nothing to a new one.
  expect((await audit.check("", true, Date.now())).nextCursor).toBe(before);
  const { nextCursor } = await audit.check(before, true, Date.now());
  await ledger().updateOne({ userId: large, sequence: 20 }, { $inc: { runs: -1, millicredits: -5 } });
  expect(nextCursor).not.toBe("");
  expect((await checkAll(true)).found).toEqual([]);
  expect(await own.connection.collection("checkpoints").countDocuments()).toBe(0);
});

it("reports holds that are older than any run", async () => {
  const old = createBilling({ store: own.store, logger, clock: () => new Date(Date.now() - BILLING_LIMITS.staleHoldMs - 60_000) });
  await old.credit({ userId: VICTIM, credit: { kind: "topup", millicredits: 50 }, note: "", reference: "paid" }, deadline());
  const hold = (by: Billing, executionId: string) =>
    by.hold({ userId: VICTIM, executionId, items: [{ key: "a", model: "m", maxMillicredits: 10 }], maxActive: 0 }, deadline());
  await hold(old, "forgotten");
  await hold(billing, "fresh");
  expect(await check()).toMatchObject({ mismatches: [], staleHolds: [{ userId: VICTIM, executionId: "forgotten", millicredits: 10 }] });
  await old.stop();
});
