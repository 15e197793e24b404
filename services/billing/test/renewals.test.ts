import { createBilling, type Billing } from "../src/billing";
import type { LedgerRow } from "../src/account/movement";
import { logger, ownStore, type OwnStore } from "./support/database";

const MONTHLY = 2_000;
const JANUARY = new Date("2026-01-10T12:00:00Z");
const MARCH = new Date("2026-03-20T00:00:00Z");
const USERS = Array.from({ length: 12 }, (_, index) => `user:${index}`);

let own: OwnStore;
let now = JANUARY;
const clock = (): Date => now;
const deadline = (): number => Date.now() + 10_000;
const start = (): Billing => createBilling({ store: own.store, logger, clock });

beforeEach(async () => {
  own = await ownStore();
  now = JANUARY;
});
afterEach(() => own.stop());

const subscribe = async (billing: Billing, users: readonly string[]): Promise<void> => {
  const plan = { tier: "pro", monthlyMillicredits: MONTHLY, trials: [], reference: "approved" };
  await Promise.all(users.map((userId) => billing.setPlan({ userId, ...plan }, deadline())));
};
const ledgerOf = async (billing: Billing, userId: string): Promise<LedgerRow[]> =>
  (await billing.ledgerPage({ userId, limit: 100, cursor: "" })).rows;
const rowsOf = async (billing: Billing, userId: string, kind: LedgerRow["kind"]): Promise<LedgerRow[]> =>
  (await ledgerOf(billing, userId)).filter((row) => row.kind === kind);

const renewAll = async (billing: Billing, limit: number): Promise<number> => {
  let renewed = 0;
  let cursor = "";
  do {
    const page = await billing.renewDue({ limit, cursor }, deadline());
    expect(page.failed).toBe(0);
    renewed += page.renewed;
    cursor = page.nextCursor;
  } while (cursor);
  return renewed;
};

it("renews accounts without activity, page by page, and leaves those whose month continues", async () => {
  const billing = start();
  await subscribe(billing, USERS);
  now = new Date("2026-02-10T11:59:59Z");
  expect(await renewAll(billing, 5)).toBe(0);
  now = MARCH;
  await subscribe(billing, ["newcomer"]);
  expect(await renewAll(billing, 5)).toBe(USERS.length);
  for (const userId of USERS) {
    const rows = (await ledgerOf(billing, userId)).filter((row) => row.at.getTime() === MARCH.getTime());
    expect(rows).toMatchObject([
      { kind: "plan_renewal", millicredits: MONTHLY },
      { kind: "plan_expiry", millicredits: -MONTHLY },
    ]);
    expect(await own.store.load(userId)).toMatchObject({ plan: MONTHLY, renewsAt: new Date("2026-04-10T12:00:00Z") });
  }
  expect(await renewAll(billing, 5)).toBe(0);
  expect(await rowsOf(billing, "newcomer", "plan_expiry")).toEqual([]);
  await billing.stop();
});

it("keeps the day on which a plan started, also in the store, over a month without this day", async () => {
  now = new Date("2026-01-31T12:00:00Z");
  const billing = start();
  await subscribe(billing, ["user:31"]);
  for (const day of ["2026-02-28", "2026-03-31", "2026-04-30"]) {
    const renewsAt = new Date(`${day}T12:00:00Z`);
    expect(await own.store.load("user:31")).toMatchObject({ renewsAt });
    now = renewsAt;
    expect(await renewAll(billing, 5)).toBe(1);
  }
  await billing.stop();
});

it("renews once, however many processes run at the same time", async () => {
  const [one, other] = [start(), start()];
  await subscribe(one, USERS);
  await one.hold(
    { userId: USERS[0]!, executionId: "old", items: [{ key: "a", model: "m", maxMillicredits: 300 }], maxActive: 0 },
    deadline(),
  );
  now = MARCH;
  const holds = USERS.flatMap((userId) =>
    [one, other].map((billing, index) =>
      billing.hold(
        { userId, executionId: `${userId}-${index}`, items: [{ key: "a", model: "m", maxMillicredits: 100 }], maxActive: 0 },
        deadline(),
      ),
    ),
  );
  await Promise.all([
    renewAll(one, 4),
    renewAll(other, 5),
    renewAll(other, 100),
    ...holds,
    ...USERS.map((userId) => one.account({ userId })),
  ]);
  await Promise.all([renewAll(one, 100), renewAll(other, 100)]);
  for (const userId of USERS) {
    expect(await rowsOf(one, userId, "plan_expiry")).toHaveLength(1);
    expect(await rowsOf(one, userId, "plan_renewal")).toHaveLength(2);
    expect(await one.account({ userId })).toMatchObject({ plan: MONTHLY - 200, held: userId === USERS[0] ? 500 : 200 });
  }
  expect(await one.checkLedger({ cursor: "" })).toMatchObject({ accounts: USERS.length, mismatches: [] });
  await Promise.all([one.stop(), other.stop()]);
});

it("doesn't release plan credits whose month ended during the hold", async () => {
  const billing = start();
  await subscribe(billing, ["u"]);
  await billing.credit({ userId: "u", credit: { kind: "topup", millicredits: 500 }, note: "", reference: "paid" }, deadline());
  const items = [{ key: "a", model: "m", maxMillicredits: MONTHLY + 100 }];
  await billing.hold({ userId: "u", executionId: "e", items, maxActive: 0 }, deadline());
  now = MARCH;
  await renewAll(billing, 10);
  expect(await rowsOf(billing, "u", "plan_expiry")).toEqual([]);
  const settled = await billing.settle(
    { userId: "u", executionId: "e", items: [{ key: "a", captureMillicredits: 700, consumeGrant: false }], captureAll: false },
    deadline(),
  );
  expect(settled).toMatchObject({ capturedMillicredits: 700, releasedMillicredits: MONTHLY - 600 });
  // The 100 top-up credits are returned; the 1,300 credits of the ended plan month are not.
  expect(await billing.account({ userId: "u" })).toMatchObject({ plan: MONTHLY, topUp: 500, held: 0 });
  expect(await rowsOf(billing, "u", "plan_expiry")).toMatchObject([{ millicredits: -1_300, executionId: "e" }]);
  expect((await billing.checkLedger({ cursor: "" })).mismatches).toEqual([]);
  await billing.stop();
});

it("continues with the others if one account can't be renewed, and finds it again next time", async () => {
  const healthy = start();
  await subscribe(healthy, USERS);
  now = MARCH;
  const stuck = "user:3";
  const load = (userId: string) => (userId === stuck ? Promise.reject(new Error("away")) : own.store.load(userId));
  const troubled = createBilling({ store: { ...own.store, load }, logger, clock });
  expect(await troubled.renewDue({ limit: 100, cursor: "" }, deadline())).toEqual({ renewed: USERS.length - 1, failed: 1, nextCursor: "" });
  expect(await healthy.renewDue({ limit: 100, cursor: "" }, deadline())).toMatchObject({ renewed: 1, failed: 0 });
  await Promise.all([healthy.stop(), troubled.stop()]);
});

it("returns before its deadline, with the position to continue", async () => {
  const billing = start();
  await subscribe(
    billing,
    Array.from({ length: 40 }, (_, index) => `u${index}`),
  );
  now = MARCH;
  const page = await billing.renewDue({ limit: 100, cursor: "" }, Date.now());
  expect(page.renewed).toBeLessThan(40);
  expect(page.nextCursor).not.toBe("");
  expect(await renewAll(billing, 100)).toBe(40 - page.renewed);
  await billing.stop();
});

it.each(["x", "1", ":u", "-1:u"])("rejects the forged cursor %s", async (cursor) => {
  const billing = start();
  await expect(billing.renewDue({ limit: 1, cursor }, deadline())).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  await billing.stop();
});
