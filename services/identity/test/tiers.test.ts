import { CAPS, ENTERPRISE_CAPS, USUAL_CAPS } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import { createKey, newUser, refusal, useIdentity } from "./support";

const { client, deployment } = useIdentity();

const tier = (fields: Partial<identity.Tier>): identity.Tier => ({
  id: "studio",
  base: "business",
  rateLimitPerMinute: 500,
  markupPermille: 1_250,
  monthlyMillicredits: 25_000_000,
  concurrency: 75,
  caps: {},
  ...fields,
});

describe("a custom tier", () => {
  it("gives its users its own numbers in addition to its base's rights", async () => {
    await client.putTier({ tier: tier({ id: "agency" }) });
    const user = await newUser(client, { tier: "agency" });
    expect(user.plan).toEqual({
      tier: "agency",
      base: "business",
      rateLimitPerMinute: 500,
      markupPermille: 1_250,
      monthlyMillicredits: 25_000_000,
      concurrency: 75,
      caps: USUAL_CAPS,
    });
  });

  it("sets its own caps: 0 means the platform's ceiling, and absent ones equal those of its base", async () => {
    await client.putTier({ tier: tier({ id: "capped", caps: { keys: 2, budgets: 0 } }) });
    const user = await newUser(client, { tier: "capped" });
    expect(user.plan!.caps).toEqual({ ...USUAL_CAPS, keys: 2, budgets: CAPS.budgets.ceiling });
    const create = () => createKey(client, user.id);
    const full = { message: expect.stringContaining("at most 2 keys") as string };
    await Promise.all([create(), create()]);
    expect(await refusal(create())).toMatchObject(full);
    await client.putTier({ tier: tier({ id: "capped", base: "enterprise", caps: {} }) });
    expect((await client.getUser({ userId: user.id })).user!.plan!.caps).toEqual(ENTERPRISE_CAPS);
    await create();
    // A lowered cap doesn't remove existing keys.
    await client.putTier({ tier: tier({ id: "capped", caps: { keys: 2 } }) });
    expect((await client.listKeys({ userId: user.id })).keys).toHaveLength(3);
    expect(await refusal(create())).toMatchObject(full);
  });

  it("is replaced as a whole, and can be unlimited", async () => {
    await client.putTier({ tier: tier({ id: "replaced" }) });
    const user = await newUser(client, { tier: "replaced" });
    const { tier: stored } = await client.putTier({
      tier: tier({ id: "replaced", base: "pro", rateLimitPerMinute: undefined, concurrency: 3 }),
    });
    expect(stored).toEqual(tier({ id: "replaced", base: "pro", rateLimitPerMinute: undefined, concurrency: 3 }));
    const { user: now } = await client.getUser({ userId: user.id });
    expect(now!.plan).toMatchObject({ base: "pro", concurrency: 3 });
    expect(now!.plan!.rateLimitPerMinute).toBeUndefined();
    expect((await client.listTiers({})).tiers).toContainEqual(stored);
  });

  it("is created once by many concurrent requests", async () => {
    await Promise.all(Array.from({ length: 10 }, () => client.putTier({ tier: tier({ id: "parallel" }) })));
    expect((await client.listTiers({})).tiers.filter(({ id }) => id === "parallel")).toHaveLength(1);
  });

  it.each<[string, Partial<identity.Tier>]>([
    ["id", { id: "pro" }],
    ["id", { id: "" }],
    ["id", { id: "Not A Slug" }],
    ["id", { id: "x".repeat(65) }],
    ["base", { base: "free" }],
    ["caps.keys", { caps: { keys: CAPS.keys.ceiling + 1 } }],
    ["caps.uploadMb", { caps: { uploadMb: -1 } }],
    ["base", { base: "studio" }],
    ["rateLimitPerMinute", { rateLimitPerMinute: 0 }],
    ["markupPermille", { markupPermille: -1 }],
    ["monthlyMillicredits", { monthlyMillicredits: 0 }],
    ["concurrency", { concurrency: 0 }],
  ])("is rejected for its %s: %j", async (path, fields) => {
    const { reason, metadata } = await refusal(client.putTier({ tier: tier(fields) }));
    expect(reason).toBe("INVALID_REQUEST");
    expect(metadata.issues).toMatchObject([{ path }]);
  });

  it("can't be deleted while a user has it, and can afterwards", async () => {
    await client.putTier({ tier: tier({ id: "leaving" }) });
    const user = await newUser(client, { tier: "leaving" });
    expect(await refusal(client.deleteTier({ id: "leaving" }))).toMatchObject({ kind: "precondition", reason: "PRECONDITION_FAILED" });
    expect((await client.listTiers({})).tiers.map(({ id }) => id)).toContain("leaving");
    await client.updateUser({ userId: user.id, tier: "pro" });
    await client.deleteTier({ id: "leaving" });
    expect(await refusal(client.updateUser({ userId: user.id, tier: "leaving" }))).toMatchObject({ reason: "INVALID_REQUEST" });
    expect(await refusal(client.deleteTier({ id: "leaving" }))).toMatchObject({ kind: "not_found", reason: "NOT_FOUND" });
  });

  it("never keeps a user when it is deleted during an assignment", async () => {
    const users = await Promise.all(Array.from({ length: 6 }, () => newUser(client)));
    for (let round = 0; round < 5; round += 1) {
      await client.putTier({ tier: tier({ id: "contested" }) });
      await Promise.allSettled([
        ...users.map(({ id }) => client.updateUser({ userId: id, tier: "contested" })),
        client.deleteTier({ id: "contested" }),
      ]);
      const exists = (await client.listTiers({})).tiers.some(({ id }) => id === "contested");
      const tiers = await Promise.all(users.map(async ({ id }) => (await client.getUser({ userId: id })).user!.tier));
      if (!exists) expect(tiers).not.toContain("contested");
      await Promise.all(users.map(({ id }) => client.updateUser({ userId: id, tier: "free" })));
    }
  });

  it("that is missing grants nothing", async () => {
    const user = await newUser(client, { tier: "pro" });
    await deployment.database.collection<{ _id: string }>("users").updateOne({ _id: user.id }, { $set: { tier: "vanished" } });
    expect((await client.getUser({ userId: user.id })).user!.plan).toMatchObject({ tier: "vanished", base: "free", concurrency: 1 });
  });
});
