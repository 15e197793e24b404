import { identity } from "@nodeloom/proto";
import { deploy, newUser, type Deployment, type IdentityClient } from "./support";

let deployment: Deployment;
let client: IdentityClient;

beforeAll(async () => {
  deployment = await deploy();
  ({ client } = await deployment.startInstance());
});
afterAll(() => deployment.stop());
beforeEach(() => deployment.database.collection("tiers").deleteMany({}));

const put = (id: string) =>
  client.putTier({
    tier: identity.Tier.fromPartial({ id, base: "pro", markupPermille: 1_500, monthlyMillicredits: 1_000, concurrency: 1 }),
  });
const claim = async () => (await client.claimTierRollout({})).rollout;
const advance = async (rollout: identity.TierRollout, finished = false) => (await client.advanceTierRollout({ rollout, finished })).claimed;
const endClaims = () => deployment.database.collection("tiers").updateMany({}, { $set: { rolloutUntil: new Date(Date.now() - 1) } });

describe("a tier's rollout", () => {
  it("is worked on by one process at a time, to its end", async () => {
    expect(await claim()).toBeUndefined();
    await put("one");
    const claims = await Promise.all([claim(), claim(), claim()]);
    const [rollout, ...others] = claims.filter((claimResult) => claimResult !== undefined);
    expect(others).toEqual([]);
    expect(rollout).toMatchObject({ tierId: "one", cursor: "" });
    expect(await advance({ ...rollout!, cursor: "page-2" })).toBe(true);
    expect(await advance(rollout!, true)).toBe(true);
    await endClaims();
    expect(await claim()).toBeUndefined();
  });

  it("continues where a dead process stopped, and ignores that process", async () => {
    await put("two");
    const dead = (await claim())!;
    await advance({ ...dead, cursor: "page-2" });
    expect(await claim()).toBeUndefined();
    await endClaims();
    const heir = (await claim())!;
    expect(heir).toMatchObject({ tierId: "two", cursor: "page-2", revision: dead.revision });
    expect(await advance({ ...dead, cursor: "page-9" })).toBe(false);
    expect(await advance(heir, true)).toBe(true);
  });

  it("starts again if the tier changes meanwhile, but not beside a running one", async () => {
    await put("three");
    const first = (await claim())!;
    await put("three");
    expect(await claim()).toBeUndefined();
    expect(await advance(first, true)).toBe(false);
    const second = (await claim())!;
    expect(second).toMatchObject({ tierId: "three", cursor: "" });
    expect(second.revision).not.toBe(first.revision);
    expect(await advance(second, true)).toBe(true);
  });

  it("finds the users of the tier, page by page", async () => {
    await put("four");
    const users = [await newUser(client, { tier: "four" }), await newUser(client, { tier: "four" }), await newUser(client)];
    const first = await client.listUsers({ query: "", tier: "four", limit: 1, cursor: "" });
    const second = await client.listUsers({ query: "", tier: "four", limit: 1, cursor: first.nextCursor });
    expect([...first.users, ...second.users].map(({ id }) => id)).toEqual([users[1]!.id, users[0]!.id]);
    expect(second.nextCursor).toBe("");
  });
});
