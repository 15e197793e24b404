import { type identity } from "@nodeloom/proto";
import { generateKeyValue } from "../src/keys/key-value";
import type { DeletedKeyRecord, KeyRecord } from "../src/keys/records";
import { createKey, newUser, refusal, useIdentity } from "./support";

const { client, deployment } = useIdentity();

const keyRecords = () => deployment.database.collection<KeyRecord>("keys");

const PRO = ["workflow:run", "workflow:read", "workflow:write", "webhook:receive", "execution:read", "execution:cancel"];
const BUSINESS = [...PRO, "model:run", "agent:invoke"];

describe("a revoked key", () => {
  const deletedRecords = () => deployment.database.collection<DeletedKeyRecord>("deleted-keys");
  const deletedOf = async (userId: string) =>
    (await client.listKeys({ userId, withDeleted: true })).keys.filter(({ deletedAt }) => deletedAt !== undefined);

  it("keeps its last name for lists, and nothing that could authenticate", async () => {
    const user = await newUser(client, { tier: "pro" });
    const { key, value } = await createKey(client, user.id, { name: "First" });
    const keyId = key!.id;
    const hashes = (await keyRecords().findOne({ _id: keyId }))!.hashes;
    await client.updateKey({ userId: user.id, keyId, name: "Render farm", capabilities: undefined, metadata: undefined });
    await client.revokeKey({ userId: user.id, keyId });
    expect((await client.listKeys({ userId: user.id })).keys).toEqual([]);
    expect(await deletedOf(user.id)).toMatchObject([
      { id: keyId, name: "Render farm", start: value.slice(0, 12), deletedAt: expect.any(Date) as Date },
    ]);
    expect(await deletedOf((await newUser(client, { tier: "pro" })).id)).toEqual([]);
    const stored = JSON.stringify(await deletedRecords().findOne({ _id: keyId }));
    for (const secret of [value.slice(12), ...hashes]) expect(stored).not.toContain(secret);
    expect((await refusal(client.authenticateKey({ value }))).reason).toBe("UNAUTHENTICATED");
    expect((await refusal(client.rotateKey({ userId: user.id, keyId, graceSeconds: 0 }))).reason).toBe("NOT_FOUND");
  });

  it("keeps its name also if its creator's access ends, and an account keeps the newest 1,000", async () => {
    const user = await newUser(client, { tier: "pro" });
    const { key } = await createKey(client, user.id, { name: "Ended" });
    const filler = { ...{ userId: user.id, name: "old", start: "nl_", preset: "custom", capabilities: [] }, createdAt: new Date(0) };
    await deletedRecords().insertMany(
      Array.from({ length: 1_000 }, (_, index) => ({
        ...{ ...filler, _id: `${user.id} ${index}`, lastUsedAt: null, expiresAt: null, deletedAt: new Date(index) },
      })),
    );
    await client.updateUser({ userId: user.id, approved: false });
    const names = await deletedOf(user.id);
    expect([names.length, names[0]?.id, names[0]?.name]).toEqual([1_000, key!.id, "Ended"]);
    expect(await deletedRecords().countDocuments({ userId: user.id })).toBe(1_000);
  });
});

describe("listing keys", () => {
  it("finds the keys that a page of rows names, among existing and deleted ones, and none of another account", async () => {
    const [user, other] = [await newUser(client, { tier: "pro" }), await newUser(client, { tier: "pro" })];
    const create = async (userId: string, name: string): Promise<string> => (await createKey(client, userId, { name })).key!.id;
    const [kept, deleted, foreign] = [await create(user.id, "Kept"), await create(user.id, "Deleted"), await create(other.id, "Foreign")];
    await create(user.id, "Unasked");
    await client.revokeKey({ userId: user.id, keyId: deleted });
    const names = async (withDeleted: boolean, keyIds?: string[]): Promise<string[]> =>
      (await client.listKeys({ userId: user.id, withDeleted, selection: keyIds && { keyIds } })).keys.map(({ name }) => name).sort();
    expect(await names(true, [kept, deleted, foreign, "unknown"])).toEqual(["Deleted", "Kept"]);
    expect(await names(false, [kept, deleted])).toEqual(["Kept"]);
    expect(await names(true, [])).toEqual([]);
    expect(await names(true)).toEqual(["Deleted", "Kept", "Unasked"]);
    const tooMany = Array.from({ length: 1_001 }, () => kept);
    expect(await refusal(client.listKeys({ userId: user.id, selection: { keyIds: tooMany } }))).toMatchObject({
      reason: "INVALID_REQUEST",
    });
  });
});

describe("creating a key", () => {
  it("shows the value once and stores only its hash", async () => {
    const user = await newUser(client, { tier: "pro" });
    const { key, value, webhookSecret } = await createKey(client, user.id, { name: " CI " });
    expect(value).toMatch(/^nl_test_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$/);
    expect(webhookSecret).toBe("");
    expect(key).toMatchObject({ userId: user.id, name: "CI", start: value.slice(0, 12), preset: "workflow-deploy" });
    expect((await client.listKeys({ userId: user.id })).keys).toEqual([key]);
    const stored = JSON.stringify(await keyRecords().findOne({ _id: key!.id }));
    expect(stored).not.toContain(value.slice(12));
  });

  it.each([
    ["pro", "read-only", ["workflow:read", "execution:read"]],
    ["pro", "workflow-deploy", ["workflow:run", "workflow:read"]],
    ["pro", "webhook-receiver", ["webhook:receive", "execution:read"]],
    ["pro", "full-deploy", PRO],
    ["business", "full-deploy", BUSINESS],
    ["enterprise", "full-deploy", BUSINESS],
  ])("on %s with the preset %s grants its capabilities", async (tier, preset, capabilities) => {
    const user = await newUser(client, { tier });
    const { key, value } = await createKey(client, user.id, { preset });
    expect(key).toMatchObject({ preset, capabilities });
    expect((await client.authenticateKey({ value })).effectiveCapabilities).toEqual(capabilities);
  });

  it("grants an administrator everything, whatever the tier", async () => {
    const admin = await newUser(client, { role: "admin" });
    expect((await createKey(client, admin.id, { preset: "full-deploy" })).key!.capabilities).toEqual(["*"]);
    const { value } = await createKey(client, admin.id, { capabilities: ["*"] });
    expect((await client.authenticateKey({ value })).effectiveCapabilities).toEqual(["*"]);
  });

  it("accepts explicit capabilities, each once", async () => {
    const user = await newUser(client, { tier: "pro" });
    const { key } = await createKey(client, user.id, { capabilities: ["workflow:cats:run", "workflow:read", "workflow:read"] });
    expect(key).toMatchObject({ preset: "custom", capabilities: ["workflow:cats:run", "workflow:read"] });
  });

  it.each([
    [
      "pro",
      ["workflow:run", "model:run", "model:sandbox-image:run", "agent:invoke", "*"],
      ["model:run", "model:sandbox-image:run", "agent:invoke", "*"],
    ],
    ["business", ["model:run", "*"], ["*"]],
    ["pro", ["model:*"], ["model:*"]],
  ])("on %s rejects capabilities above the ceiling in %j", async (tier, capabilities, above) => {
    const user = await newUser(client, { tier });
    const { kind, reason, metadata } = await refusal(createKey(client, user.id, { capabilities }));
    expect([kind, reason]).toEqual(["forbidden", "CAPABILITY_ABOVE_CEILING"]);
    expect(metadata.capabilities).toEqual(above);
  });

  it("has the ceiling of a custom tier's base", async () => {
    const tier = { id: "keys-pro", base: "pro", markupPermille: 1_500, monthlyMillicredits: 1_000, concurrency: 1, caps: {} };
    await client.putTier({ tier });
    const user = await newUser(client, { tier: tier.id });
    expect((await createKey(client, user.id, { preset: "full-deploy" })).key!.capabilities).toEqual(PRO);
    expect(await refusal(createKey(client, user.id, { capabilities: ["model:run"] }))).toMatchObject({
      reason: "CAPABILITY_ABOVE_CEILING",
    });
    await client.putTier({ tier: { ...tier, base: "business" } });
    await expect(createKey(client, user.id, { capabilities: ["model:run"] })).resolves.toBeDefined();
  });

  it("is rejected on Free", async () => {
    const user = await newUser(client);
    expect(await refusal(createKey(client, user.id))).toMatchObject({ kind: "forbidden", reason: "API_KEY_ACCESS_DENIED" });
  });

  it.each<[string, Partial<identity.CreateKeyRequest>]>([
    ["name", { name: "  " }],
    ["name", { name: "x".repeat(201) }],
    ["preset", { preset: "everything" }],
    ["capabilities", { preset: "" }],
    ["capabilities", { preset: "read-only", capabilities: ["workflow:read"] }],
    ["capabilities.1", { capabilities: ["workflow:read", "workflow:fly"] }],
    ["capabilities", { capabilities: Array.from({ length: 101 }, (_, index) => `workflow:w${index}:run`) }],
    ["expiresAt", { expiresAt: new Date(Date.now() - 1_000) }],
    ["webhook.url", { preset: "webhook-receiver", webhookUrl: "ftp://example.com" }],
    ["webhook.url", { preset: "webhook-receiver", webhookEvents: ["execution.completed"] }],
    ["webhook.events.0", { preset: "webhook-receiver", webhookUrl: "https://example.com", webhookEvents: ["execution.started"] }],
  ])("is rejected for its %s (%#)", async (path, request) => {
    const user = await newUser(client, { tier: "pro" });
    const { reason, metadata } = await refusal(createKey(client, user.id, request));
    expect(reason).toBe("INVALID_REQUEST");
    expect(metadata.issues).toMatchObject([{ path }]);
    expect((await client.listKeys({ userId: user.id })).keys).toEqual([]);
  });

  it("limits its name by visible characters", async () => {
    const user = await newUser(client, { tier: "pro" });
    const name = "🧵".repeat(200);
    expect((await createKey(client, user.id, { name })).key).toMatchObject({ name });
    expect(await refusal(createKey(client, user.id, { name: `${name}🧵` }))).toMatchObject({ metadata: { issues: [{ path: "name" }] } });
  });

  it("is limited to a hundred keys, also in parallel, and continues after a revocation", async () => {
    const user = await newUser(client, { tier: "pro" });
    const stored = await createKey(client, user.id);
    const template = await keyRecords().findOne({ _id: stored.key!.id });
    const others = Array.from({ length: 97 }, (_, index) => ({
      ...template!,
      _id: `filler-${index}`,
      slot: 100 + index,
      hashes: [`${user.id}${index}`],
    }));
    await keyRecords().insertMany(others.map((record, index) => ({ ...record, slot: index < template!.slot ? index : index + 1 })));
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => createKey(client, user.id)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toMatchObject({ reason: "PRECONDITION_FAILED", metadata: { limit: 100 } });
    expect((await client.listKeys({ userId: user.id })).keys).toHaveLength(100);
    await client.revokeKey({ userId: user.id, keyId: stored.key!.id });
    await expect(createKey(client, user.id)).resolves.toBeDefined();
  });
});

describe("a key of someone else", () => {
  it("can't be found", async () => {
    const [owner, other] = [await newUser(client, { tier: "pro" }), await newUser(client, { tier: "pro" })];
    const { key, value } = await createKey(client, owner.id, { preset: "webhook-receiver", webhookUrl: "https://example.com/hook" });
    const mine = { userId: other.id, keyId: key!.id };
    const attempts = [
      client.updateKey({ ...mine, name: "mine now", capabilities: undefined, metadata: undefined }),
      client.revokeKey(mine),
      client.rotateKey({ ...mine, graceSeconds: 0 }),
      client.setKeyWebhook({ ...mine, url: "https://evil.example", events: [] }),
      client.deleteKeyWebhook(mine),
    ];
    const unknown = await refusal(client.revokeKey({ userId: other.id, keyId: "no-such-key" }));
    expect(unknown).toMatchObject({ kind: "not_found", reason: "NOT_FOUND" });
    for (const attempt of attempts) expect(await refusal(attempt)).toEqual(unknown);
    expect((await client.listKeys({ userId: other.id })).keys).toEqual([]);
    expect((await client.listKeys({ userId: owner.id })).keys).toEqual([key]);
    expect((await client.authenticateKey({ value })).user!.id).toBe(owner.id);
  });
});

describe("authenticating by key", () => {
  it("returns the key, its owner and the owner's tier", async () => {
    const user = await newUser(client, { tier: "pro" });
    const { key, value } = await createKey(client, user.id);
    const answer = await client.authenticateKey({ value });
    expect(answer.user).toEqual(user);
    expect(answer.key).toMatchObject({ id: key!.id, name: key!.name, capabilities: key!.capabilities });
    expect(answer.effectiveCapabilities).toEqual(["workflow:run", "workflow:read"]);
  });

  it("rejects malformed, unknown, revoked and expired values, with a cause only for what the request itself shows", async () => {
    const user = await newUser(client, { tier: "pro" });
    const revoked = await createKey(client, user.id);
    await client.revokeKey({ userId: user.id, keyId: revoked.key!.id });
    const expired = await createKey(client, user.id, { expiresAt: new Date(Date.now() + 60_000) });
    await client.authenticateKey({ value: expired.value });
    await keyRecords().updateOne({ _id: expired.key!.id }, { $set: { expiresAt: new Date() } });
    await client.updateKey({ userId: user.id, keyId: expired.key!.id, name: "expired", capabilities: undefined, metadata: undefined });
    const malformedValues = ["", "nonsense", `${revoked.value}x`];
    const values = [...malformedValues, generateKeyValue("test"), revoked.value, expired.value];
    const refusals = await Promise.all(values.map((value) => refusal(client.authenticateKey({ value }))));
    for (const one of refusals) expect(one).toMatchObject({ kind: "unauthenticated", reason: "UNAUTHENTICATED" });
    const [whole, ...others] = refusals.map(({ message }) => message);
    expect(whole).toContain("isn't a whole API key");
    const unknown = "a valid API key (header x-api-key) or session is required";
    expect(others).toEqual([whole, whole, unknown, unknown, "the API key has expired: create another one"]);
  });

  it("reports keys from before May 2026 as retired, by their form or their date", async () => {
    const user = await newUser(client, { tier: "pro" });
    const { key, value } = await createKey(client, user.id);
    await keyRecords().updateOne({ _id: key!.id }, { $set: { createdAt: new Date("2026-04-30T23:59:59Z") } });
    const retired = { kind: "unauthenticated", reason: "LEGACY_KEY_RETIRED" };
    expect(await refusal(client.authenticateKey({ value }))).toMatchObject(retired);
    expect(await refusal(client.authenticateKey({ value: `nl_sk_${"0aZ9".repeat(8)}` }))).toMatchObject(retired);
    const first = await createKey(client, user.id);
    await keyRecords().updateOne({ _id: first.key!.id }, { $set: { createdAt: new Date("2026-05-01T00:00:00Z") } });
    await expect(client.authenticateKey({ value: first.value })).resolves.toBeDefined();
  });

  it("follows the owner's tier at once", async () => {
    const user = await newUser(client, { tier: "business" });
    const { value } = await createKey(client, user.id, { capabilities: ["workflow:run", "model:run"] });
    const effective = async () => (await client.authenticateKey({ value })).effectiveCapabilities;
    expect(await effective()).toEqual(["workflow:run", "model:run"]);
    await client.updateUser({ userId: user.id, tier: "pro" });
    expect(await effective()).toEqual(["workflow:run"]);
    await client.updateUser({ userId: user.id, tier: "free" });
    expect(await refusal(effective())).toMatchObject({ kind: "forbidden", reason: "API_KEY_ACCESS_DENIED" });
    await client.updateUser({ userId: user.id, role: "admin" });
    expect(await effective()).toEqual(["workflow:run", "model:run"]);
  });

  it("follows a custom tier's definition at once", async () => {
    const tier = { id: "follows", base: "business", markupPermille: 1_500, monthlyMillicredits: 1_000, concurrency: 1, caps: {} };
    await client.putTier({ tier });
    const user = await newUser(client, { tier: tier.id });
    const { value } = await createKey(client, user.id, { capabilities: ["model:run"] });
    expect((await client.authenticateKey({ value })).user!.plan!.concurrency).toBe(1);
    await client.putTier({ tier: { ...tier, base: "pro", concurrency: 9 } });
    const { user: now, effectiveCapabilities } = await client.authenticateKey({ value });
    expect(now!.plan!.concurrency).toBe(9);
    expect(effectiveCapabilities).toEqual([]);
  });

  it("records the last use, at most once a minute", async () => {
    const user = await newUser(client, { tier: "pro" });
    const { key, value } = await createKey(client, user.id);
    const stored = async () => (await keyRecords().findOne({ _id: key!.id }))!.lastUsedAt;
    const recorded = async (): Promise<Date> => {
      for (;;) {
        const at = await stored();
        if (at) return at;
      }
    };
    expect(await stored()).toBeNull();
    await client.authenticateKey({ value });
    const first = await recorded();
    for (let use = 0; use < 5; use += 1) await client.authenticateKey({ value });
    expect(await stored()).toEqual(first);
    const longAgo = new Date(Date.now() - 61_000);
    await keyRecords().updateOne({ _id: key!.id }, { $set: { lastUsedAt: longAgo } });
    await client.updateKey({ userId: user.id, keyId: key!.id, name: "read anew", capabilities: undefined, metadata: undefined });
    await client.authenticateKey({ value });
    while ((await stored())!.getTime() === longAgo.getTime());
    expect((await stored())!.getTime()).toBeGreaterThanOrEqual(first.getTime());
  });
});

describe("renaming a key", () => {
  it("changes its name only", async () => {
    const user = await newUser(client, { tier: "pro" });
    const { key, value } = await createKey(client, user.id);
    const { key: renamed } = await client.updateKey({
      userId: user.id,
      keyId: key!.id,
      name: " new name ",
      capabilities: undefined,
      metadata: undefined,
    });
    expect(renamed).toEqual({ ...key, name: "new name" });
    await expect(client.authenticateKey({ value })).resolves.toBeDefined();
    expect(
      await refusal(client.updateKey({ userId: user.id, keyId: key!.id, name: "", capabilities: undefined, metadata: undefined })),
    ).toMatchObject({
      reason: "INVALID_REQUEST",
    });
  });
});
