import { createKey, newUser, refusal, useIdentity } from "./support";

const URL = "https://example.com/hook";
const ALL_EVENTS = ["execution.completed", "execution.failed", "execution.cancelled"];
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const NOTHING = { url: "", secrets: [], events: [], disabled: false, revision: "" };
const REVISION: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);

const { client, deployment } = useIdentity();
let userId: string;

beforeAll(async () => {
  userId = (await newUser(client, { tier: "pro" })).id;
});

const keyRecords = () => deployment.database.collection<{ _id: string }>("keys");
const withWebhook = () => createKey(client, userId, { preset: "webhook-receiver", webhookUrl: URL });

describe("a key's webhook", () => {
  it("is created with the key, its secret shown once and stored encrypted", async () => {
    const { key, webhookSecret } = await withWebhook();
    expect(key!.webhook).toEqual({ url: URL, events: ALL_EVENTS, disabledAt: undefined, disabledReason: "" });
    expect(webhookSecret).toMatch(SECRET);
    expect(await client.getWebhookTarget({ keyId: key!.id })).toEqual({
      url: URL,
      secrets: [webhookSecret],
      events: ALL_EVENTS,
      disabled: false,
      revision: REVISION,
    });
    expect(JSON.stringify(await keyRecords().findOne({ _id: key!.id }))).not.toContain(webhookSecret.slice(6));
  });

  it.each(["http://127.0.0.1/hook", "http://localhost:9000/", "http://192.168.1.4/", "http://[::1]/", "http://169.254.169.254/latest"])(
    "can't be set at a private address: %s",
    async (url) => {
      const { key } = await createKey(client, userId, { preset: "webhook-receiver" });
      const issues = (path: string) => ({ issues: [{ path, message: expect.stringContaining("it is not a public address") as string }] });
      await expect(client.setKeyWebhook({ userId, keyId: key!.id, url, events: [] })).rejects.toMatchObject({ metadata: issues("url") });
      const created = createKey(client, userId, { preset: "webhook-receiver", webhookUrl: url });
      await expect(created).rejects.toMatchObject({ reason: "INVALID_REQUEST", metadata: issues("webhook.url") });
    },
  );

  it("can be at a private address that the operator allows", async () => {
    const { client: another } = await deployment.startInstance({ USER_EGRESS_ALLOW: "127.0.0.1:9000" });
    const url = "http://127.0.0.1:9000/hook";
    const { key } = await createKey(another, userId, { preset: "webhook-receiver", webhookUrl: url });
    expect(key!.webhook).toMatchObject({ url });
    await expect(another.setKeyWebhook({ userId, keyId: key!.id, url: "http://127.0.0.1:9001/", events: [] })).rejects.toMatchObject({
      reason: "INVALID_REQUEST",
    });
  });

  it("can be added later, for some events", async () => {
    const { key } = await createKey(client, userId, { preset: "webhook-receiver" });
    expect(await client.getWebhookTarget({ keyId: key!.id })).toEqual(NOTHING);
    const { key: changed, webhookSecret } = await client.setKeyWebhook({ userId, keyId: key!.id, url: URL, events: ["execution.failed"] });
    expect(changed!.webhook).toMatchObject({ url: URL, events: ["execution.failed"] });
    expect(await client.getWebhookTarget({ keyId: key!.id })).toMatchObject({
      url: URL,
      secrets: [webhookSecret],
      events: ["execution.failed"],
    });
  });

  it("is announced only to its owner, if an owner is named", async () => {
    const { key } = await withWebhook();
    const keyId = key!.id;
    expect((await client.getWebhookTarget({ keyId, userId })).url).toBe(URL);
    const other = await newUser(client, { tier: "pro" });
    expect(await refusal(client.getWebhookTarget({ keyId, userId: other.id }))).toMatchObject({ reason: "NOT_FOUND" });
    expect(await refusal(client.getWebhookTarget({ keyId, userId, madeBy: other.id }))).toMatchObject({ reason: "NOT_FOUND" });
    expect(await refusal(client.getWebhookTarget({ keyId: "none", userId }))).toMatchObject({ reason: "NOT_FOUND" });
  });

  it("signs with every replaced secret for a day after its successor, however often it is set meanwhile", async () => {
    const { key, webhookSecret: first } = await withWebhook();
    const keyId = key!.id;
    const set = async () => (await client.setKeyWebhook({ userId, keyId, url: URL, events: [] })).webhookSecret;
    const signing = async () => (await client.getWebhookTarget({ keyId })).secrets;
    const cameDaysAgo = (index: number) =>
      keyRecords().updateOne({ _id: keyId }, { $set: { [`webhookSecrets.${index}.createdAt`]: new Date(Date.now() - 24 * 3_600_000) } });
    const second = await set();
    expect(await signing()).toEqual([second, first]);
    const third = await set();
    expect(await signing()).toEqual([third, second, first]);
    await cameDaysAgo(1);
    expect(await signing()).toEqual([third, second]);
    await cameDaysAgo(0);
    expect(await signing()).toEqual([third]);
  });

  it("gets a new secret with the key's rotation, with the same overlap", async () => {
    const { key, webhookSecret: first } = await withWebhook();
    const { webhookSecret: second } = await client.rotateKey({ userId, keyId: key!.id, graceSeconds: 0 });
    expect(second).toMatch(SECRET);
    expect((await client.getWebhookTarget({ keyId: key!.id })).secrets).toEqual([second, first]);
  });

  it("keeps the ten newest secrets if it is set more often than that within a day, also concurrently", async () => {
    const { key, webhookSecret: first } = await withWebhook();
    const sets = Array.from({ length: 12 }, () => client.setKeyWebhook({ userId, keyId: key!.id, url: URL, events: [] }));
    const shownSecrets = (await Promise.all(sets)).map(({ webhookSecret }) => webhookSecret);
    const { secrets } = await client.getWebhookTarget({ keyId: key!.id });
    expect(new Set(secrets).size).toBe(10);
    for (const secret of secrets) expect(shownSecrets).toContain(secret);
    expect(secrets).not.toContain(first);
  });

  it("is inactive while its key can't receive webhooks, and active again afterwards", async () => {
    const { key, webhookSecret } = await withWebhook();
    const grant = (...capabilities: string[]) =>
      client.updateKey({ userId, keyId: key!.id, capabilities: { capabilities }, metadata: undefined });
    await grant("workflow:run", "execution:read");
    expect(await client.getWebhookTarget({ keyId: key!.id })).toEqual(NOTHING);
    await grant("workflow:run", "webhook:receive");
    expect(await client.getWebhookTarget({ keyId: key!.id })).toMatchObject({ url: URL, secrets: [webhookSecret] });
  });

  it("is inactive while the tier of the key's owner has no webhooks", async () => {
    const owner = await newUser(client, { tier: "pro" });
    const { key } = await createKey(client, owner.id, { preset: "webhook-receiver", webhookUrl: URL });
    const target = () => client.getWebhookTarget({ keyId: key!.id });
    await client.updateUser({ userId: owner.id, tier: "free" });
    expect(await target()).toEqual(NOTHING);
    await client.updateUser({ userId: owner.id, tier: "pro" });
    expect(await target()).toMatchObject({ url: URL });
  });

  it("is inactive after its removal, which can be repeated, and after the key's revocation", async () => {
    const { key } = await withWebhook();
    const mine = { userId, keyId: key!.id };
    for (let round = 0; round < 2; round += 1) expect((await client.deleteKeyWebhook(mine)).key!.webhook).toBeUndefined();
    expect(await client.getWebhookTarget({ keyId: key!.id })).toEqual(NOTHING);
    const { webhookSecret } = await client.setKeyWebhook({ ...mine, url: URL, events: [] });
    expect((await client.getWebhookTarget({ keyId: key!.id })).secrets).toEqual([webhookSecret]);
    await client.revokeKey(mine);
    expect(await client.getWebhookTarget({ keyId: key!.id })).toEqual(NOTHING);
  });

  it("is disabled only at the URL that returned 410, and enabled by setting it", async () => {
    const { key } = await withWebhook();
    const keyId = key!.id;
    const { revision } = await client.getWebhookTarget({ keyId });
    expect(await client.disableWebhook({ keyId, url: "https://example.com/earlier", revision, reason: "410" })).toEqual({
      disabled: false,
    });
    expect((await client.getWebhookTarget({ keyId })).url).toBe(URL);
    const disable = () => client.disableWebhook({ keyId, url: URL, revision, reason: "answered 410" });
    for (let round = 0; round < 2; round += 1) expect(await disable()).toEqual({ disabled: true });
    expect(await client.getWebhookTarget({ keyId })).toEqual({ ...NOTHING, disabled: true });
    const { keys } = await client.listKeys({ userId });
    const webhook = keys.find(({ id }) => id === keyId)!.webhook!;
    expect(webhook).toMatchObject({ url: URL, disabledReason: "answered 410" });
    expect(webhook.disabledAt).toBeInstanceOf(Date);
    await client.setKeyWebhook({ userId, keyId, url: URL, events: [] });
    // A late report about earlier settings doesn't affect the new ones.
    expect(await disable()).toEqual({ disabled: false });
    expect(await client.getWebhookTarget({ keyId })).toMatchObject({ url: URL, disabled: false });
    expect(await client.disableWebhook({ keyId: "no-such-key", url: URL, revision, reason: "" })).toEqual({ disabled: false });
  });

  describe("with failing deliveries", () => {
    const DAY_MS = 24 * 3_600_000;
    const SINCE = Date.parse("2030-01-01T00:00:00.000Z");

    /** Reports about one webhook, with times in days. */
    const reporter = async () => {
      const { key } = await withWebhook();
      const keyId = key!.id;
      const { revision } = await client.getWebhookTarget({ keyId });
      const report = async (day: number, outcome: "delivered" | "failed" | "given up"): Promise<boolean> => {
        const at = new Date(SINCE + day * DAY_MS);
        const request = { keyId, url: URL, revision, at, delivered: outcome === "delivered", final: outcome === "given up" };
        return (await client.reportDelivery(request)).disabled;
      };
      return { keyId, report };
    };
    const webhookOf = async (keyId: string) => (await client.listKeys({ userId })).keys.find(({ id }) => id === keyId)!.webhook!;

    it("is disabled if a delivery fails for five days without a success, and reports it", async () => {
      const { keyId, report } = await reporter();
      expect(await report(0, "failed")).toBe(false);
      expect(await report(1.2, "given up")).toBe(false);
      expect(await report(4.99, "given up")).toBe(false);
      expect(await report(5.1, "failed")).toBe(false);
      expect((await webhookOf(keyId)).disabledAt).toBeUndefined();
      // Reported twice, like a retried activity.
      for (let round = 0; round < 2; round += 1) expect(await report(5.2, "given up")).toBe(true);
      expect(await client.getWebhookTarget({ keyId })).toMatchObject({ url: "", disabled: true });
      const { disabledAt, disabledReason } = await webhookOf(keyId);
      expect(disabledAt).toBeInstanceOf(Date);
      expect(disabledReason).toBe("every delivery has failed since 2030-01-01T00:00:00.000Z");
      expect(await report(5.3, "failed")).toBe(true);
    });

    it("starts over after a success, but not after one from before the failures", async () => {
      const { keyId, report } = await reporter();
      await report(0, "failed");
      await report(4, "delivered");
      await report(4.1, "failed");
      expect(await report(6, "given up")).toBe(false);
      // Sent before the failure at 4.1, but reported after it.
      await report(4.05, "delivered");
      expect(await report(9.2, "given up")).toBe(true);
      expect((await webhookOf(keyId)).disabledReason).toContain("2030-01-05T02:24:00.000Z");
    });

    it("starts over when it is set again, whatever is still reported about the earlier settings", async () => {
      const { keyId, report } = await reporter();
      await report(0, "failed");
      await client.setKeyWebhook({ userId, keyId, url: URL, events: [] });
      expect(await report(6, "given up")).toBe(false);
      const { revision } = await client.getWebhookTarget({ keyId });
      const late = { keyId, url: URL, revision, at: new Date(SINCE + 7 * DAY_MS), delivered: false, final: true };
      expect(await client.reportDelivery(late)).toEqual({ disabled: false });
      expect((await client.getWebhookTarget({ keyId })).url).toBe(URL);
    });

    it("is disabled once, or not at all, if successes race the last failures", async () => {
      const rounds = Array.from({ length: 5 }, async () => {
        const { keyId, report } = await reporter();
        await report(0, "failed");
        await Promise.all([report(6, "given up"), report(6, "given up"), report(6.1, "delivered"), report(6, "given up")]);
        const { disabledAt, disabledReason } = await webhookOf(keyId);
        expect(disabledReason).toBe(disabledAt ? "every delivery has failed since 2030-01-01T00:00:00.000Z" : "");
      });
      await Promise.all(rounds);
    });
  });

  it.each([
    "",
    "example.com",
    "ftp://example.com",
    "javascript:alert(1)",
    "https://user:password@example.com",
    `https://example.com/${"x".repeat(2_048)}`,
  ])("is rejected at an unsuitable URL (%#)", async (url) => {
    const { key } = await createKey(client, userId, { preset: "webhook-receiver" });
    const { reason, metadata } = await refusal(client.setKeyWebhook({ userId, keyId: key!.id, url, events: [] }));
    expect(reason).toBe("INVALID_REQUEST");
    expect(metadata.issues).toMatchObject([{ path: "url" }]);
    await client.revokeKey({ userId, keyId: key!.id });
  });

  it("is rejected for unknown events", async () => {
    const { key } = await withWebhook();
    const events = refusal(client.setKeyWebhook({ userId, keyId: key!.id, url: URL, events: ["execution.started"] }));
    expect((await events).metadata.issues).toMatchObject([{ path: "events.0" }]);
  });

  it("is denied to a key that can't receive, with the missing capability, when the key is created and later", async () => {
    const denied = { kind: "forbidden", reason: "CAPABILITY_DENIED", metadata: { required: "webhook:receive" } };
    expect(await refusal(createKey(client, userId, { preset: "workflow-deploy", webhookUrl: URL }))).toMatchObject(denied);
    const { key: mute } = await createKey(client, userId, { preset: "workflow-deploy" });
    expect(await refusal(client.setKeyWebhook({ userId, keyId: mute!.id, url: URL, events: [] }))).toMatchObject(denied);
  });
});
