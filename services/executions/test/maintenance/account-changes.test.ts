import { randomUUID } from "node:crypto";
import { unavailable } from "@nodeloom/kernel";
import { connectMongo } from "@nodeloom/platform";
import { billing as billingProto, identity as identityProto } from "@nodeloom/proto";
import { createCancellation } from "../../src/accept/cancellation";
import type { RunInput } from "../../src/run/types";
import { createStopAccount } from "../../src/erasure/stop-account";
import { createRelayedRunStops } from "../../src/maintenance/run-stops";
import { createRelayedTierRollouts } from "../../src/maintenance/tier-rollouts";
import { deploy, newUser, type Deployment, type IdentityClient } from "../../../identity/test/support";
import { logger, runOf, startMoney, type Money } from "../support/money";

/** Changes of accounts, on a real identity, billing and store. */

const PRICE = 6_000;
const TIER = "studio";
let deployment: Deployment;
let identity: IdentityClient;
let money: Money;
beforeAll(async () => {
  deployment = await deploy();
  [{ client: identity }, money] = await Promise.all([deployment.startInstance(), startMoney()]);
});
afterAll(async () => {
  await Promise.all([deployment.stop(), money.stopBalanced()]);
});

const fund = (userId: string): Promise<unknown> => {
  const kind = billingProto.CreditKind.CREDIT_KIND_PLAN;
  return money.billing.credit(billingProto.CreditRequest.fromPartial({ userId, kind, millicredits: PRICE, reference: randomUUID() }));
};

describe("a suspension", () => {
  const cancelledBatches: { userId: string; createdBy?: Date | undefined }[] = [];
  const relayedStops = () => {
    const { stores, execution, outbox, endQueued } = money;
    const stopAccount = createStopAccount({
      ...{ store: stores.leaving, logger },
      orders: { cancelAll: (request) => Promise.resolve(cancelledBatches.push(request) && 0) },
      cancellation: createCancellation({
        ...{ stores, execution, outbox, end: { endQueued }, awaitDelivered: async () => undefined },
        tasks: { isFailing: () => Promise.resolve(false) },
        abandon: () => Promise.reject(new Error("no task fails here")),
      }),
    });
    return createRelayedRunStops({ identity, stopAccount });
  };
  const begin = async (userId: string): Promise<RunInput> => {
    await fund(userId);
    return money.begin(runOf(userId, [{ id: "pics", model: "painter", calls: 1, maxMillicredits: PRICE }]));
  };
  const statusOf = async ({ executionId }: RunInput) => (await money.stores.rows.find(executionId))!.status;
  const finish = (run: RunInput) =>
    money.settle(run, { status: "cancelled", result: null, error: null, requestId: null, nodes: [], completed: [] });

  it("cancels the account's runs and batches, and is repeated until no earlier request can start a run", async () => {
    const { id } = await newUser(identity);
    const run = await begin(id);
    await identity.updateUser({ userId: id, suspended: true });
    const relayed = relayedStops();
    const [stop] = await relayed.page(10, undefined);
    await relayed.settle([stop!]);
    expect(await statusOf(run)).toBe("cancel_requested");
    expect(cancelledBatches).toContainEqual({ userId: id, createdBy: undefined });
    // It is settled, but a run is still under way.
    await relayed.settle([{ ...stop!, settled: true }]);
    await finish(run);
    await relayed.settle([stop!]);
    expect((await relayed.page(10, undefined)).map(({ userId }) => userId)).toEqual([id]);
    await relayed.settle([{ ...stop!, settled: true }]);
    expect(await relayed.page(10, undefined)).toEqual([]);
  });

  it("that has ended leaves later runs alone", async () => {
    const { id } = await newUser(identity);
    const before = await begin(id);
    await identity.updateUser({ userId: id, suspended: true });
    await identity.updateUser({ userId: id, suspended: false });
    const after = await begin(id);
    const relayed = relayedStops();
    const [stop] = await relayed.page(10, undefined);
    expect(stop).toMatchObject({ userId: id, lifted: true });
    await relayed.settle([stop!]);
    expect([await statusOf(before), await statusOf(after)]).toEqual(["cancel_requested", "processing"]);
    for (const run of [before, after]) await finish(run);
    await relayed.settle([{ ...stop!, settled: true }]);
    expect(await relayed.page(10, undefined)).toEqual([]);
  });
});

it("a changed tier reaches all its users, also if the process dies in between", async () => {
  const put = (monthlyMillicredits: number) =>
    identity.putTier({
      tier: identityProto.Tier.fromPartial({ id: TIER, base: "pro", markupPermille: 1_500, monthlyMillicredits, concurrency: 7 }),
    });
  await put(1_000);
  const users: string[] = [];
  for (let count = 0; count < 4; count += 1) users.push((await newUser(identity, { tier: TIER })).id);
  const waiting = await newUser(identity, { tier: TIER });
  await identity.updateUser({ userId: waiting.id, approved: false });
  const plan = { tier: TIER, monthlyMillicredits: 1_000, grants: [], unlessSet: false, userRevision: 1 };
  await Promise.all(users.map((userId) => money.billing.setPlan({ ...plan, userId, reference: randomUUID() })));
  await put(7_000);
  const database = await connectMongo({ uri: process.env.MONGODB_URI!, database: `${money.prefix}billing` });

  const updated: string[] = [];
  const resized: [string, number][] = [];
  const relayedBy = (setMonthlyCredits: Money["billing"]["setMonthlyCredits"]) =>
    createRelayedTierRollouts({
      ...{ identity, logger, pageUsers: 2, billing: { setMonthlyCredits } },
      queue: { resize: (userId, limit) => Promise.resolve(void resized.push([userId, limit])) },
    });
  const dying = relayedBy(async (request, options) => {
    if (updated.length === 3) throw unavailable("dead");
    updated.push(request.userId);
    return money.billing.setMonthlyCredits(request, options);
  });
  const [rollout] = await dying.page(10, undefined);
  await expect(dying.settle([rollout!])).rejects.toThrow("dead");
  const heir = relayedBy(async (request, options) => {
    updated.push(request.userId);
    return money.billing.setMonthlyCredits(request, options);
  });
  const [rest] = await heir.page(10, undefined);
  expect(rest).toMatchObject({ tierId: TIER, revision: rollout!.revision, cursor: expect.stringMatching(/./) as string });
  await heir.settle([rest!]);
  expect(await heir.page(10, undefined)).toEqual([]);
  // They get the credits at their next renewal.
  const accounts = await database
    .collection<{ _id: string }>("accounts")
    .find({ _id: { $in: users } })
    .toArray();
  await database.close();
  expect(accounts).toHaveLength(users.length);
  for (const account of accounts) expect(account).toMatchObject({ monthlyMillicredits: 7_000, plan: 1_000 });
  expect(updated).not.toContain(waiting.id);
  expect(new Set(resized.map(([userId]) => userId))).toEqual(new Set([...users, waiting.id]));
  expect(new Set(resized.map(([, limit]) => limit))).toEqual(new Set([7]));
});
