import { randomUUID } from "node:crypto";
import { deferred } from "../../../test-support/deferred";
import { createLooks } from "../../../test-support/looks";
import { createBilling, type Billing } from "../src/billing";
import { BILLING_LIMITS } from "../src/limits";
import type { BillingStore } from "../src/store";
import { logger, ownStore, type OwnStore } from "./support/database";

let own: OwnStore;
let store: BillingStore;
let userId: string;

beforeAll(async () => {
  own = await ownStore();
  ({ store } = own);
});
afterAll(() => own.stop());
beforeEach(() => (userId = `user-${randomUUID()}`));

const topUp = (billing: Billing, reference: string, deadlineMs = Date.now() + 10_000): Promise<unknown> =>
  billing.credit({ userId, credit: { kind: "topup", millicredits: 1 }, note: "", reference }, deadlineMs);

/** A store that blocks commits until it is opened. */
const gatedStore = (): { store: BillingStore; arrived: Promise<void>; open: () => void; commits: () => number } => {
  const { promise: opened, resolve: open } = deferred();
  const { promise: arrived, resolve: arrive } = deferred();
  let commits = 0;
  const commit: BillingStore["commit"] = async (before, after) => {
    commits += 1;
    arrive();
    await opened;
    return store.commit(before, after);
  };
  return { store: { ...store, commit }, arrived, open, commits: () => commits };
};

it("writes once for all commands that arrived during the last write", async () => {
  const gate = gatedStore();
  const billing = createBilling({ store: gate.store, logger });
  const first = topUp(billing, "first");
  await gate.arrived;
  const others = Array.from({ length: 50 }, (_, index) => topUp(billing, `other-${index}`));
  gate.open();
  await Promise.all([first, ...others]);
  expect(gate.commits()).toBe(2);
  expect(await billing.account({ userId })).toMatchObject({ topUp: 51, revision: 2 });
  await billing.stop();
});

it("rejects callers without applying their commands if their deadline passes before their turn or too many wait", async () => {
  const gate = gatedStore();
  const billing = createBilling({ store: gate.store, logger });
  const first = topUp(billing, "first");
  await gate.arrived;
  const late = topUp(billing, "late", Date.now() - 1);
  const waiting = Array.from({ length: 1_999 }, () => topUp(billing, "same"));
  await expect(topUp(billing, "one too many")).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE", metadata: { retryAfter: 1 } });
  gate.open();
  await expect(late).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  await Promise.all([first, ...waiting]);
  expect(await billing.account({ userId })).toMatchObject({ topUp: 2 });
  await billing.stop();
});

it("answers accepted commands before it stops, and accepts no more", async () => {
  const billing = createBilling({ store, logger });
  const topUps = Array.from({ length: 20 }, (_, index) => topUp(billing, `r${index}`));
  await new Promise(setImmediate);
  await Promise.all([billing.stop(), ...topUps]);
  await expect(topUp(billing, "later")).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  const account = await store.load(userId);
  expect(account).toMatchObject({ topUp: 20, outbox: [] });
});

it("continues through failing writes without charging twice", async () => {
  let failures = 0;
  const commit: BillingStore["commit"] = async (before, after) => {
    const result = await store.commit(before, after);
    // The write completes, but its acknowledgement is lost.
    if (++failures <= 3) throw new Error("connection reset");
    return result;
  };
  const billing = createBilling({ store: { ...store, commit }, logger });
  await Promise.all(Array.from({ length: 10 }, (_, index) => topUp(billing, `r${index}`)));
  expect(await billing.account({ userId })).toMatchObject({ topUp: 10 });
  await billing.stop();
});

it("drains an account with too many rows before it accepts more", async () => {
  const bound = jest.replaceProperty(BILLING_LIMITS as { outboxRows: number }, "outboxRows", 5);
  let reachable = false;
  const appendRows: BillingStore["appendRows"] = (rows) => (reachable ? store.appendRows(rows) : Promise.reject(new Error("not now")));
  const billing = createBilling({ store: { ...store, appendRows }, logger });
  for (let index = 0; index < 6; index++) await topUp(billing, `r${index}`);
  await expect(topUp(billing, "r6", Date.now() + 100)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  reachable = true;
  await topUp(billing, "r6");
  expect((await store.load(userId))!.outbox).toHaveLength(1);
  expect((await billing.checkLedger({ cursor: "" })).mismatches).toEqual([]);
  bound.restore();
  await billing.stop();
});

it("drains other accounts if one account's rows can't be written", async () => {
  const fine = `user-${randomUUID()}`;
  const stuck: BillingStore = { ...store, appendRows: () => Promise.reject(new Error("not now")) };
  const victim = createBilling({ store: stuck, logger });
  const credit = { kind: "topup", millicredits: 1 } as const;
  await Promise.all([userId, fine].map((each) => victim.credit({ userId: each, credit, note: "", reference: "r" })));
  await victim.stop();

  const appendRows: BillingStore["appendRows"] = (rows) =>
    rows.some((row) => row.userId === userId) ? Promise.reject(new Error("cannot be written")) : store.appendRows(rows);
  const successor = createBilling({ store: { ...store, appendRows }, logger });
  for (const rows of successor.relayed) await createLooks(rows)();
  expect((await store.load(fine))!.outbox).toEqual([]);
  expect((await store.load(userId))!.outbox).toHaveLength(1);
});
