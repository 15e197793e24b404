import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { createLooks } from "../../../test-support/looks";
import { createBilling, type Billing } from "../src/billing";
import { logger, ownStore, type OwnStore } from "./support/database";

const START = new Date("2026-11-23T12:00:00Z");
const TUESDAY = new Date("2026-11-24T00:00:00Z");
const MINUTE = 60_000;
const PRICE = 10;

let own: OwnStore;
let now: Date;
/** Two processes with one database. */
let billing: Billing;
let other: Billing;
let userId: string;
beforeAll(async () => {
  own = await ownStore();
  const dependencies = { store: own.store, logger, clock: () => now };
  [billing, other] = [createBilling(dependencies), createBilling(dependencies)];
});
afterAll(async () => {
  await Promise.all([billing.stop(), other.stop()]);
  await own.stop();
});
beforeEach(async () => {
  [now, userId] = [START, randomUUID()];
  await billing.credit({ userId, credit: { kind: "topup", millicredits: 100_000_000 }, note: "", reference: "paid" });
});

type Window = "day" | "month" | "total";
const set = (value: string, millicredits: number, window: Window = "month", name = "customer") =>
  billing.setBudget({ userId, scope: { type: "metadata", name, value }, millicredits, window, alertAt: [] });
const item = (key: string, maxMillicredits: number) => ({ key, model: "painter", maxMillicredits });
const deadline = (): number => Date.now() + 60_000;
const hold = (executionId: string, metadata: Record<string, string>, by = billing, price = PRICE) =>
  by.hold({ userId, executionId, items: [item("a", price)], maxActive: 0, subject: { keyId: "", workflowSlug: "", metadata } }, deadline());
const extend = (executionId: string, metadata: Record<string, string>, key: string, price = PRICE) =>
  billing.extend({ userId, executionId, items: [item(key, price)], subject: { keyId: "", workflowSlug: "", metadata } }, deadline());
const settle = (executionId: string, captured: Record<string, number>, by = billing) =>
  by.settle(
    {
      ...{ userId, executionId, captureAll: false },
      items: Object.entries(captured).map(([key, captureMillicredits]) => ({ key, captureMillicredits, consumeGrant: false })),
    },
    deadline(),
  );
const used = async (value: string, name = "customer"): Promise<number> => {
  // Settlements leave the outbox together with the ledger's rows.
  await billing.ledgerPage({ userId, limit: 1, cursor: "" });
  const [budget] = await billing.budgets({ userId, of: { name, value } });
  return budget!.used[budget!.window];
};
const refusal = async (work: Promise<unknown>): Promise<DomainError> => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DomainError)) throw new Error(`not refused: ${String(error)}`);
  return error;
};
const counters = () => own.connection.collection("counters").find({ userId }).toArray();
const accountBytes = async (): Promise<number> => {
  const document = await own.connection.collection("accounts").findOne({ _id: userId } as object, { projection: { outbox: 0 } });
  return JSON.stringify(document).length;
};

it("gives each customer the same limit, and reports the customer's rest", async () => {
  await set("*", 15);
  await hold("e1", { customer: "acme" });
  await hold("e2", { customer: "globex" });
  await hold("e3", {});
  expect(await refusal(hold("e4", { customer: "acme" }))).toMatchObject({
    ...{ kind: "exhausted", reason: "BUDGET_EXCEEDED" },
    metadata: { scope: "metadata.customer", limit: 0.015, remaining: 0.005, resetsAt: "2026-12-01T00:00:00.000Z" },
  });
  await settle("e1", { a: 3 });
  expect([await used("acme"), await used("globex"), await used("initech")]).toEqual([3, 10, 0]);
  await hold("e4", { customer: "acme" });
  expect((await billing.budgets({ userId })).map(({ scope, used: all }) => [scope.value, all.month])).toEqual([["*", 0]]);
});

it("doesn't apply to a customer with a separate budget", async () => {
  await set("*", 5);
  await set("acme", 20);
  await hold("e1", { customer: "acme" });
  await hold("e2", { customer: "acme" });
  expect((await refusal(hold("e3", { customer: "acme" }))).metadata).toMatchObject({ limit: 0.02, remaining: 0 });
  expect((await refusal(hold("e4", { customer: "globex" }))).metadata).toMatchObject({ limit: 0.005 });
  expect((await billing.budgets({ userId, of: { name: "customer", value: "acme" } })).map(({ limit }) => limit)).toEqual([20]);
  expect(await counters()).toEqual([]);
});

it("lets exactly as many of 200 parallel runs of one customer start as fit, through two processes, and no more after they end", async () => {
  await set("*", 50 * PRICE);
  const ids = Array.from({ length: 200 }, (_, run) => `e${run}`);
  const outcomes = await Promise.allSettled(ids.map((id, run) => hold(id, { customer: "acme" }, run % 2 ? billing : other)));
  const heldIds = ids.filter((_, run) => outcomes[run]!.status === "fulfilled");
  expect(heldIds).toHaveLength(50);
  const reasons = outcomes.flatMap((one) => (one.status === "rejected" ? [(one.reason as DomainError).reason] : []));
  expect(new Set(reasons)).toEqual(new Set(["BUDGET_EXCEEDED"]));
  expect(await used("acme")).toBe(50 * PRICE);
  await Promise.all(ids.map((id, run) => settle(id, { a: 4 }, run % 2 ? other : billing)));
  await other.ledgerPage({ userId, limit: 1, cursor: "" });
  expect(await used("acme")).toBe(50 * 4);
  expect(await counters()).toMatchObject([{ value: "acme", used: 200, reservations: [] }]);
});

it("keeps the account as small with hundreds of customers as with one", async () => {
  await set("*", 2 * PRICE);
  const customer = async (value: string): Promise<void> => {
    await hold(`${value}.1`, { customer: value });
    await settle(`${value}.1`, { a: PRICE });
  };
  await customer("first");
  const before = await accountBytes();
  await Promise.all(Array.from({ length: 400 }, (_, index) => customer(`c${index}`)));
  expect(await counters()).toHaveLength(401);
  // Numbers with more digits.
  expect(await accountBytes()).toBeLessThan(before + 40);
  expect(await billing.checkLedger({ cursor: "" }, deadline())).toMatchObject({ mismatches: [] });
}, 120_000);

it("counts extensions, each once, and returns the unused part", async () => {
  await set("*", 100);
  await hold("e1", { customer: "acme" });
  await extend("e1", { customer: "acme" }, "b", 40);
  await extend("e1", { customer: "acme" }, "b", 40);
  await hold("e1", { customer: "acme" });
  expect(await used("acme")).toBe(50);
  expect(await refusal(extend("e1", { customer: "acme" }, "c", 51))).toMatchObject({ reason: "BUDGET_EXCEEDED" });
  await settle("e1", { a: 9, b: 20 });
  await settle("e1", { a: 9, b: 20 });
  expect(await used("acme")).toBe(29);
});

it("reserves nothing for a run that the account or another default budget rejects", async () => {
  await set("*", 1_000);
  await set("*", 5, "total", "project");
  await refusal(hold("e1", { customer: "acme", project: "p" }));
  await refusal(hold("e2", { customer: "acme" }, billing, 200_000_000));
  await settle("e3", {});
  expect(await refusal(hold("e3", { customer: "acme" }))).toMatchObject({ reason: "PRECONDITION_FAILED" });
  expect([await used("acme"), await used("p", "project")]).toEqual([0, 0]);
});

it("starts each window at zero, and returns credits to an ended window without changing the current one", async () => {
  await set("*", 15, "day");
  await hold("e1", { customer: "acme" });
  now = TUESDAY;
  await hold("e2", { customer: "acme" });
  await settle("e1", { a: 1 });
  expect(await used("acme")).toBe(10);
  const expiries = (await counters()).map(({ expiresAt }) => expiresAt as Date).sort((one, two) => one.getTime() - two.getTime());
  expect(expiries).toEqual([new Date("2026-11-25T00:00:00Z"), new Date("2026-11-26T00:00:00Z")]);
});

it("applies a changed limit to the next run, and is deleted with all of its use", async () => {
  await set("*", 10, "total");
  await hold("e1", { customer: "acme" });
  await set("*", 25, "total");
  await hold("e2", { customer: "acme" });
  expect((await refusal(hold("e3", { customer: "acme" }))).metadata).toMatchObject({ limit: 0.025, resetsAt: null });
  expect((await counters()).map(({ expiresAt }) => expiresAt as unknown)).toEqual([undefined]);
  await billing.removeBudget({ userId, budget: { scope: { type: "metadata", name: "customer", value: "*" } } });
  expect(await counters()).toEqual([]);
  await hold("e3", { customer: "acme" });
  await set("*", 10, "total");
  await settle("e1", { a: 10 });
  expect(await used("acme")).toBe(0);
});

it("returns a reservation whose hold was never stored, and keeps those of continuing runs", async () => {
  await set("*", 30);
  await hold("open", { customer: "acme" });
  const use = { number: 1, name: "customer", value: "acme", limit: 30, window: "month", millicredits: PRICE } as const;
  const lostReservation = { id: "lost", millicredits: PRICE, checkAt: new Date(START.getTime() + MINUTE) };
  await own.store.reserve(userId, use, lostReservation, START);
  expect(await used("acme")).toBe(20);
  const look = async (at: Date): Promise<void> => {
    now = at;
    for (const rows of billing.relayed) await createLooks(rows)();
  };
  await look(new Date(START.getTime() + MINUTE - 1));
  expect(await used("acme")).toBe(20);
  const before = (await own.store.load(userId))!;
  await look(new Date(START.getTime() + MINUTE));
  expect(await used("acme")).toBe(10);
  // An earlier hold with that reservation can't be written any more.
  expect(await own.store.commit(before, { ...before, held: before.held + PRICE })).toBe(false);
  await look(new Date(START.getTime() + 20 * MINUTE));
  await settle("open", { a: 2 });
  expect(await used("acme")).toBe(2);
});

it("removes a customer's use when this customer, or the account, is erased", async () => {
  await set("*", 1_000);
  for (const customer of ["acme", "globex"]) {
    await hold(customer, { customer });
    await settle(customer, { a: PRICE });
  }
  const erased = { ownerId: userId, name: "customer", within: {} };
  await billing.eraseMetadata({ ...erased, value: "acme" });
  await billing.eraseMetadata({ ...erased, value: "*" });
  expect((await counters()).map(({ value }) => value as string)).toEqual(["globex"]);
  expect(await billing.budgets({ userId })).toHaveLength(1);
  let cursor = "";
  do ({ nextCursor: cursor } = await billing.erase(userId, cursor));
  while (cursor !== "");
  expect(await counters()).toEqual([]);
});

it("has no alerts", async () => {
  const scope = { type: "metadata", name: "customer", value: "*" } as const;
  const error = await refusal(billing.setBudget({ userId, scope, millicredits: 1, window: "day", alertAt: [500] }));
  expect(error).toMatchObject({ reason: "INVALID_REQUEST" });
  expect(error.message + JSON.stringify(error.metadata)).toContain("alertAt");
});
