import { connectMongo } from "@nodeloom/platform";
import { connectServices, type Connections } from "../../src/clients/services";
import { applyPlan } from "../../src/edge/plan-change";
import { startPlatform, type Platform, type User } from "../support/platform";

type Mongo = Awaited<ReturnType<typeof connectMongo>>;
interface AccountDocument {
  _id: string;
  monthlyMillicredits: number;
}

const TIER = "studio";
const settings = { base: "pro", rateLimitPerMinute: 1_000, markup: 1.5, concurrency: 5 };

let platform: Platform;
let connections: Connections;
let accounts: Mongo;
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
  accounts = await connectMongo({ uri: env.MONGODB_URI!, database: `${env.MONGODB_DATABASE_PREFIX}billing` });
});
afterAll(async () => {
  connections.close();
  await accounts.close();
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
const monthly = async (user: User): Promise<number> => (await accountOf(user)).monthlyMillicredits;

it("a user who gets a tier while it changes gets the changed credits", async () => {
  await putTier(1_000);
  const user = await platform.createUser({ tier: TIER });
  const { services } = connections;
  const { user: updatedUser } = await services.identity.getUser({ userId: user.id });
  await putTier(9_000);
  expect(await monthly(user)).toBe(1_000_000);
  // The plan of the tier was read before the change.
  await applyPlan(services, { ...updatedUser!, tier: "pro" }, updatedUser!);
  expect(await monthly(user)).toBe(9_000_000);
});
