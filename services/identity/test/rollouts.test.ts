import { identity } from "@nodeloom/proto";
import { newUser, useIdentity } from "./support";

const { client, deployment } = useIdentity();

beforeEach(() => deployment.database.collection("tiers").deleteMany({}));

const put = (id: string) =>
  client.putTier({
    tier: identity.Tier.fromPartial({ id, base: "pro", markupPermille: 1_500, monthlyMillicredits: 1_000, concurrency: 1 }),
  });
const pending = async () => (await client.listTierRollouts({})).rollouts;
const advance = async (rollout: identity.TierRollout, finished = false) => (await client.advanceTierRollout({ rollout, finished })).claimed;

describe("a tier's rollout", () => {
  it("is listed from its start to its end, with its position", async () => {
    expect(await pending()).toEqual([]);
    await put("one");
    const [rollout] = await pending();
    expect(rollout).toMatchObject({ tierId: "one", cursor: "" });
    expect(await advance({ ...rollout!, cursor: "page-2" })).toBe(true);
    expect(await pending()).toEqual([{ ...rollout!, cursor: "page-2" }]);
    // A gateway of an earlier release leaves the rollout to executions.
    expect(await client.claimTierRollout({})).toEqual({});
    expect(await advance(rollout!, true)).toBe(true);
    expect(await pending()).toEqual([]);
    expect(await advance(rollout!, true)).toBe(false);
  });

  it("starts again if the tier changes meanwhile", async () => {
    await put("three");
    const [first] = await pending();
    await advance({ ...first!, cursor: "page-2" });
    await put("three");
    const [second] = await pending();
    expect(second).toMatchObject({ tierId: "three", cursor: "" });
    expect(second!.revision).not.toBe(first!.revision);
    expect(await advance(first!, true)).toBe(false);
    expect(await pending()).toEqual([second]);
    expect(await advance(second!, true)).toBe(true);
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
