import { unavailable } from "@nodeloom/kernel";
import { connectMongo, createLogger } from "@nodeloom/platform";
import { connectServices, type Connections, type Services } from "../../src/clients/services";
import { applyPlan } from "../../src/sweepers/plan-change";
import { startTierRollouts } from "../../src/sweepers/tier-rollout";
import { startPlatform, type Platform, type User } from "../support/platform";
import { eventually } from "../../../services/platform/test/support/eventually";

type Mongo = Awaited<ReturnType<typeof connectMongo>>;
interface AccountDocument {
  _id: string;
  monthlyMillicredits: number;
  plan: number;
}

const NEVER_MS = 3_600_000;
const TIER = "studio";
const settings = { base: "pro", rateLimitPerMinute: 1_000, markup: 1.5, concurrency: 5 };
const logger = createLogger("test", "silent");

let platform: Platform;
let connections: Connections;
let accounts: Mongo;
let tiers: Mongo;
beforeAll(async () => {
  platform = await startPlatform();
  const { env } = platform;
  const address = (name: string): string => env[`${name}_ADDRESS`]!;
  connections = connectServices(
    {
      ...{ identity: address("IDENTITY"), workflows: address("WORKFLOWS"), models: address("MODELS"), billing: address("BILLING") },
      ...{ usage: address("USAGE"), executions: address("EXECUTIONS"), media: address("MEDIA"), triggers: "127.0.0.1:1" },
      notifications: "127.0.0.1:1",
    },
    {},
  );
  const database = (name: string) => connectMongo({ uri: env.MONGODB_URI!, database: `${env.MONGODB_DATABASE_PREFIX}${name}` });
  [accounts, tiers] = await Promise.all([database("billing"), database("identity")]);
});
afterAll(async () => {
  connections.close();
  await Promise.all([accounts.close(), tiers.close()]);
  await platform.stop();
});

const putTier = (monthlyCredits: number) =>
  platform.send(`/api/admin/tiers/${TIER}`, {
    method: "PUT",
    json: { ...settings, monthlyCredits },
    headers: platform.bySession(platform.admin),
  });
const accountOf = async ({ id }: User): Promise<AccountDocument> =>
  (await accounts.collection<AccountDocument>("accounts").findOne({ _id: id }))!;
const monthly = async (users: readonly User[]): Promise<number[]> =>
  Promise.all(users.map(async (user) => (await accountOf(user)).monthlyMillicredits));
it("reaches the accounts of all its users, from their next renewal on", async () => {
  await putTier(1_000);
  const users = [await platform.createUser({ tier: TIER }), await platform.createUser({ tier: TIER })];
  const other = await platform.createUser({ tier: "pro" });
  const waiting = await platform.createUser({ tier: TIER, approved: false });
  expect((await putTier(3_000)).status).toBe(200);
  await eventually(async () => (await monthly(users)).every((millicredits) => millicredits === 3_000_000));
  expect(await accountOf(users[0]!)).toMatchObject({ plan: 1_000_000 });
  expect(await monthly([other, waiting])).toEqual([2_000_000, 0]);
});

it("continues after a gateway dies, and grants nothing twice", async () => {
  await putTier(1_000);
  const users: User[] = [];
  for (let count = 0; count < 4; count += 1) users.push(await platform.createUser({ tier: TIER }));
  const { services } = connections;
  const { tiers: allTiers } = await services.identity.listTiers({});
  const pending = () => tiers.collection("tiers").findOne({ rolloutRevision: { $ne: null } });
  await eventually(async () => (await pending()) === null);
  // Bypasses the gateway, so that only this test's two gateways apply the change.
  await services.identity.putTier({ tier: { ...allTiers.find(({ id }) => id === TIER)!, monthlyMillicredits: 7_000_000 } });

  const userIds: string[] = [];
  const setMonthlyCredits: Services["billing"]["setMonthlyCredits"] = async (request, options) => {
    if (userIds.length === 3) throw unavailable("dead");
    userIds.push(request.userId);
    return services.billing.setMonthlyCredits(request, options);
  };
  const first = startTierRollouts({
    services: { ...services, billing: { setMonthlyCredits } },
    logger,
    intervalMs: NEVER_MS,
    pageUsers: 2,
  });
  await eventually(async () => userIds.length === 3);
  await first.stop();
  expect(await pending()).toMatchObject({ rolloutCursor: expect.stringMatching(/./) as string });

  await tiers.collection("tiers").updateMany({}, { $set: { rolloutUntil: new Date(0) } });
  const second = startTierRollouts({ services, logger, intervalMs: NEVER_MS, pageUsers: 2 });
  await eventually(async () => (await pending()) === null);
  await second.stop();
  expect(new Set(await monthly(users))).toEqual(new Set([7_000_000]));
  const { body } = await platform.send(`/api/admin/users/${users[0]!.id}/ledger`, { headers: platform.bySession(platform.admin) });
  expect((body.rows as unknown as { kind: string }[]).filter(({ kind }) => kind === "plan_renewal")).toHaveLength(1);
});

it("doesn't skip a user who gets the tier while it changes", async () => {
  await putTier(1_000);
  const user = await platform.createUser({ tier: TIER });
  const { services } = connections;
  const { user: updatedUser } = await services.identity.getUser({ userId: user.id });
  await putTier(9_000);
  await eventually(async () => (await monthly([user]))[0] === 9_000_000);
  // As if the rollout had run first, with the tier that was read earlier.
  await applyPlan(services, { ...updatedUser!, tier: "pro" }, updatedUser!);
  expect(await monthly([user])).toEqual([9_000_000]);
});
