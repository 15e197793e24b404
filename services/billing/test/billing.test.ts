import { randomUUID } from "node:crypto";
import { type DomainError } from "@nodeloom/kernel";
import { billing as proto } from "@nodeloom/proto";
import {
  accountOf,
  dropDatabase,
  holdRequest,
  ownDatabase,
  settleRequest,
  startInstance,
  topUp,
  wholeLedger,
  type Instance,
} from "./support/instance";

const RUNS = 100;
const PRICE = 1_000;
const env = ownDatabase();
let instances: [Instance, Instance];
let client: Instance["client"];

beforeAll(async () => {
  instances = [await startInstance(env), await startInstance(env)];
  client = instances[0].client;
});
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.stop()));
  await dropDatabase(env);
});

const user = (): string => `user-${randomUUID()}`;
/** Runs alternate between the instances. */
const instanceOf = (run: number): Instance["client"] => instances[run % 2]!.client;
const runs = Array.from({ length: RUNS }, (_, run) => run);

const reasons = (results: PromiseSettledResult<unknown>[]): string[] =>
  results.flatMap((result) => (result.status === "rejected" ? [(result.reason as DomainError).reason] : []));
const repeat = (reason: string, times: number): string[] => Array.from({ length: times }, () => reason);
const expectSoundLedger = async (): Promise<void> => {
  expect(await client.checkLedger({ cursor: "" })).toMatchObject({ ok: true, mismatches: [] });
};

it("charges 100 parallel runs of one user through two instances to the last milli-credit", async () => {
  const userId = user();
  await topUp(client, userId, RUNS * PRICE);
  const settled = await Promise.all(
    runs.map(async (run) => {
      const executionId = randomUUID();
      await instanceOf(run).hold(holdRequest(userId, executionId, PRICE));
      return instanceOf(run + 1).settle(settleRequest(userId, executionId, run));
    }),
  );
  const captured = runs.reduce((sum, run) => sum + run, 0);
  expect(settled.reduce((sum, reply) => sum + reply.capturedMillicredits, 0)).toBe(captured);
  expect(await accountOf(client, userId)).toMatchObject({
    topUpMillicredits: RUNS * PRICE - captured,
    heldMillicredits: 0,
    activeHolds: 0,
  });
  await expectSoundLedger();
  const rows = await wholeLedger(client, userId);
  expect(rows.filter((row) => row.kind === "hold")).toHaveLength(RUNS);
  expect(rows.filter((row) => row.kind === "capture")).toHaveLength(RUNS - 1);
  expect(rows.reduce((sum, row) => sum + row.millicredits, 0)).toBe(RUNS * PRICE - captured);
});

it("accepts exactly as many of 200 parallel runs through two instances as a budget allows, including extensions", async () => {
  const userId = user();
  const [price, more, limit] = [7, 5, 600];
  await topUp(client, userId, 1_000_000);
  const scope: proto.BudgetScope = { scope: { $case: "metadata", value: { name: "customer", value: "acme" } } };
  await client.setBudget(proto.SetBudgetRequest.fromPartial({ userId, scope, millicredits: limit, window: "total", alertAt: [500] }));
  const subject = { keyId: "k1", workflowSlug: "", metadata: { customer: "acme" } };
  const ids = Array.from({ length: 200 }, (_, run) => `${userId}-${run}`);
  const outcomes = await Promise.allSettled(
    ids.map(async (executionId, run) => {
      await instanceOf(run).hold({ ...holdRequest(userId, executionId, price), subject });
      const items = [{ key: "n:1", model: "painter", maxMillicredits: more, alternativeTo: "" }];
      await instanceOf(run + 1).extendHold({ executionId, userId, items, maxMillicredits: undefined, subject });
    }),
  );
  expect(new Set(reasons(outcomes))).toEqual(new Set(["BUDGET_EXCEEDED"]));
  const used = async (): Promise<number> => (await client.listBudgets({ userId })).budgets[0]!.usedMillicredits;
  const { heldMillicredits } = await accountOf(client, userId);
  expect(await used()).toBe(heldMillicredits);
  // No run that would have fitted was rejected.
  expect(limit - heldMillicredits).toBeLessThan(price);
  const settled = await Promise.all(ids.map((executionId, run) => instanceOf(run).settle(settleRequest(userId, executionId, 3))));
  const captured = settled.reduce((sum, { capturedMillicredits }) => sum + capturedMillicredits, 0);
  expect(await used()).toBe(captured);
  const { users } = await client.listBudgetAlerts({ cursor: "" });
  const alerts = users.find((one) => one.userId === userId)?.alerts ?? [];
  expect(alerts).toMatchObject([{ threshold: 500, millicredits: limit }]);
  await client.takeBudgetAlerts({ userId, ids: alerts.map(({ id }) => id) });
  expect((await client.listBudgetAlerts({ cursor: "" })).users.filter((one) => one.userId === userId)).toEqual([]);
  await expectSoundLedger();
  expect((await wholeLedger(client, userId)).filter(({ kind }) => kind === "capture").every(({ keyId }) => keyId === "k1")).toBe(true);
});

it("accepts exactly as many of 100 parallel runs as the credits pay for", async () => {
  const userId = user();
  const affordable = 37;
  await topUp(client, userId, affordable * PRICE + PRICE - 1);
  const results = await Promise.allSettled(runs.map((run) => instanceOf(run).hold(holdRequest(userId, `${userId}-${run}`, PRICE))));
  expect(reasons(results)).toEqual(repeat("INSUFFICIENT_CREDITS", RUNS - affordable));
  const settled = await Promise.all(
    runs.map((run) =>
      instanceOf(run).settle(proto.SettleRequest.fromPartial({ userId, executionId: `${userId}-${run}`, captureAll: true })),
    ),
  );
  expect(settled.reduce((sum, reply) => sum + reply.capturedMillicredits, 0)).toBe(affordable * PRICE);
  expect(await accountOf(client, userId)).toMatchObject({ topUpMillicredits: PRICE - 1, heldMillicredits: 0 });
  await expectSoundLedger();
});

it("lets exactly the tier's number of runs be active at once", async () => {
  const userId = user();
  await topUp(client, userId, RUNS * PRICE);
  const limit = 10;
  const results = await Promise.allSettled(runs.map((run) => instanceOf(run).hold(holdRequest(userId, `${userId}-${run}`, PRICE, limit))));
  expect(reasons(results)).toEqual(repeat("CONCURRENCY_LIMIT_EXCEEDED", RUNS - limit));
  const refusal = results.find((result) => result.status === "rejected")!.reason as DomainError;
  expect(refusal).toMatchObject({ kind: "exhausted", metadata: { limit, retryAfter: 1 } });
  expect(await accountOf(client, userId)).toMatchObject({ activeHolds: limit, heldMillicredits: limit * PRICE });
});

it("holds and settles once, however often and wherever a call is repeated concurrently", async () => {
  const userId = user();
  const executionId = randomUUID();
  await topUp(client, userId, 5 * PRICE);
  const replies = await Promise.all(runs.map((run) => instanceOf(run).hold(holdRequest(userId, executionId, PRICE))));
  expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
  const settled = await Promise.all(runs.map((run) => instanceOf(run).settle(settleRequest(userId, executionId, 100 + run))));
  expect(new Set(settled.map((reply) => JSON.stringify(reply))).size).toBe(1);
  const captured = settled[0]!.capturedMillicredits;
  expect(await accountOf(client, userId)).toMatchObject({ topUpMillicredits: 5 * PRICE - captured, heldMillicredits: 0 });
  await expectSoundLedger();
});

it("reads the other instance's writes instead of its own cache", async () => {
  const [one, other] = instances;
  const userId = user();
  await expect(one.client.hold(holdRequest(userId, "early", PRICE))).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDITS" });
  await topUp(one.client, userId, PRICE);
  await topUp(other.client, userId, PRICE);
  await one.client.hold(holdRequest(userId, "first", 2 * PRICE));
  await other.client.settle(settleRequest(userId, "first", 0));
  expect(await one.client.hold(holdRequest(userId, "second", 2 * PRICE))).toMatchObject({ heldMillicredits: 2 * PRICE });
  await expect(other.client.hold(holdRequest(userId, "third", 1))).rejects.toMatchObject({ metadata: { availableCredits: 0 } });
});

it("still finds an execution after hundreds of later ones, including a voided one", async () => {
  const userId = user();
  await topUp(client, userId, 1_000 * PRICE);
  const first = await client.hold(holdRequest(userId, "first", PRICE));
  const settled = await client.settle(settleRequest(userId, "first", 7));
  await client.settle(settleRequest(userId, "voided", 0));
  await Promise.all(Array.from({ length: 300 }, (_, run) => instanceOf(run).settle(settleRequest(userId, `later-${run}`, 0))));
  for (const instance of instances) {
    expect(await instance.client.settle(settleRequest(userId, "first", 900))).toEqual(settled);
    expect(await instance.client.hold(holdRequest(userId, "first", PRICE))).toEqual(first);
    await expect(instance.client.hold(holdRequest(userId, "voided", PRICE))).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
  }
  expect(await accountOf(client, userId)).toMatchObject({ topUpMillicredits: 1_000 * PRICE - 7, heldMillicredits: 0, activeHolds: 0 });
  await expectSoundLedger();
});

it("sets a plan once per reference, from both instances at once", async () => {
  const userId = user();
  const request = proto.SetPlanRequest.fromPartial({
    userId,
    tier: "pro",
    monthlyMillicredits: 2_000,
    grants: [{ model: "painter", total: 3 }],
    reference: "approved",
  });
  await Promise.all(runs.slice(0, 20).map((run) => instanceOf(run).setPlan(request)));
  const account = await accountOf(client, userId);
  expect(account).toMatchObject({ planMillicredits: 2_000, grants: [{ model: "painter", total: 3, remaining: 3 }] });
  expect(account.renewsAt!.getTime()).toBeGreaterThan(Date.now());
  const rows = await wholeLedger(client, userId);
  expect(rows.map((row) => row.kind)).toEqual(["grant", "plan_renewal"]);
});

it("quotes the amount of a hold, and changes nothing", async () => {
  const userId = user();
  await client.credit(
    proto.CreditRequest.fromPartial({ userId, kind: proto.CreditKind.CREDIT_KIND_GRANT, model: "painter", runs: 1, reference: "gift" }),
  );
  await topUp(client, userId, 500);
  const { executionId: _, maxActive: __, ...request } = holdRequest(userId, "e", 500);
  const quote = await client.quoteHold(request);
  expect(quote).toMatchObject({ sufficient: true, heldMillicredits: 0, items: [{ source: proto.HoldSource.HOLD_SOURCE_GRANT }] });
  const reply = await client.hold(holdRequest(userId, "e", 500));
  expect(reply.items).toEqual(quote.items);
  expect(await client.quoteHold(request)).toMatchObject({ sufficient: true, heldMillicredits: 500 });
});

it("lists the ledger newest first, page by page, complete at once", async () => {
  const userId = user();
  for (let index = 1; index <= 7; index++) await topUp(instanceOf(index), userId, index);
  const rows = await wholeLedger(client, userId, 3);
  expect(rows.map((row) => row.millicredits)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect(rows[0]).toMatchObject({ userId, kind: "topup", note: "test" });
});

it.each([
  ["no user", () => client.hold(holdRequest("", "e", 1)), "userId"],
  ["a negative price", () => client.hold(holdRequest("u", "e", -1)), "items.0.maxMillicredits"],
  [
    "the same item twice",
    () =>
      client.hold(
        proto.HoldRequest.fromPartial({
          userId: "u",
          executionId: "e",
          items: [
            { key: "a", model: "m" },
            { key: "a", model: "m" },
          ],
        }),
      ),
    "items.1.key",
  ],
  ["a negative capture", () => client.settle(settleRequest("u", "e", -5)), "items.0.captureMillicredits"],
  ["no top-up", () => topUp(client, "u", 0), "credit.millicredits"],
  ["no kind of credit", () => client.credit(proto.CreditRequest.fromPartial({ userId: "u", reference: "r" })), "kind"],
  ["a made-up cursor", () => client.listLedger({ userId: "u", limit: 1, cursor: "x" }), "cursor"],
])("rejects %s, and names the path", async (_, call: () => Promise<unknown>, path) => {
  await expect(call()).rejects.toMatchObject({ kind: "invalid", reason: "INVALID_REQUEST", metadata: { issues: [{ path }] } });
});
