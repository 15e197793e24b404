import {
  connectRedis,
  createLogger,
  identityChangedChannel,
  parseIdentityChange,
  type IdentityChange,
  type Redis,
} from "@nodeloom/platform";
import { identity } from "@nodeloom/proto";
import { joinChanges, type Changes } from "../src/changes";
import { createKey, deploy, eventually, newUser, startRelay, type Deployment, type Instance } from "./support";

const logger = createLogger("test", "silent");
const redisUrl = (): string => process.env.REDIS_URL!;

const isRefused = async ({ client }: Instance, value: string): Promise<boolean> => {
  try {
    await client.authenticateKey({ value });
    return false;
  } catch (error) {
    expect(error).toMatchObject({ reason: "UNAUTHENTICATED" });
    return true;
  }
};

/** Instances that have all cached a key. */
const warmKey = async (instances: Instance[]): Promise<{ userId: string; keyId: string; value: string }> => {
  const { client } = instances[0]!;
  const user = await newUser(client, { tier: "pro" });
  const { key, value } = await createKey(client, user.id);
  for (const instance of instances) for (let use = 0; use < 3; use += 1) expect(await isRefused(instance, value)).toBe(false);
  return { userId: user.id, keyId: key!.id, value };
};

describe("revoking a key", () => {
  let deployment: Deployment;
  beforeEach(async () => (deployment = await deploy()));
  afterEach(() => deployment.stop());

  it("takes effect at once in its own process, and automatically everywhere else", async () => {
    const instances = [await deployment.startInstance(), await deployment.startInstance()];
    const { userId, keyId, value } = await warmKey(instances);
    await instances[0]!.client.revokeKey({ userId, keyId });
    expect(await isRefused(instances[0]!, value)).toBe(true);
    await eventually(() => isRefused(instances[1]!, value));
  });

  it("ends at once the schedules and hooks that the key created", async () => {
    const { client } = await deployment.startInstance();
    const [user, other] = [await newUser(client, { tier: "pro" }), await newUser(client, { tier: "pro" })];
    const { key } = await createKey(client, user.id);
    const which = { userId: user.id, keyId: key!.id };
    const resolved = await client.resolveKey(which);
    expect(resolved).toMatchObject({ key: { id: key!.id, lastUsedAt: undefined }, user: { id: user.id } });
    expect(resolved.effectiveCapabilities).toEqual(key!.capabilities);
    await expect(client.resolveKey({ ...which, userId: other.id })).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
    await client.updateUser(identity.UpdateUserRequest.fromPartial({ userId: user.id, suspended: true }));
    await expect(client.resolveKey(which)).rejects.toMatchObject({ reason: "ACCOUNT_SUSPENDED" });
    await client.updateUser(identity.UpdateUserRequest.fromPartial({ userId: user.id, suspended: false }));
    await client.revokeKey(which);
    await expect(client.resolveKey(which)).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
  });

  it("takes effect everywhere while Redis is unavailable", async () => {
    const relay = await startRelay(redisUrl());
    const instances = [await deployment.startInstance({ REDIS_URL: relay.url }), await deployment.startInstance({ REDIS_URL: relay.url })];
    await relay.cut();
    const { userId, keyId, value } = await warmKey(instances);
    await instances[0]!.client.revokeKey({ userId, keyId });
    expect(await isRefused(instances[0]!, value)).toBe(true);
    await eventually(() => isRefused(instances[1]!, value));
  });

  it("takes effect everywhere if only the revoking instance has lost Redis", async () => {
    const relay = await startRelay(redisUrl());
    const instances = [await deployment.startInstance({ REDIS_URL: relay.url }), await deployment.startInstance()];
    const { userId, keyId, value } = await warmKey(instances);
    await relay.cut();
    await instances[0]!.client.revokeKey({ userId, keyId });
    await eventually(() => isRefused(instances[1]!, value));
  });

  it("ends every use that starts afterwards, under load", async () => {
    const instance = await deployment.startInstance();
    const { userId, keyId, value } = await warmKey([instance]);
    let revoked = false;
    let usedAfterwards = 0;
    const load = Array.from({ length: 8 }, async () => {
      for (let use = 0; use < 60; use += 1) {
        const startedAfterwards = revoked;
        const isKeyRefused = await isRefused(instance, value);
        if (startedAfterwards && !isKeyRefused) usedAfterwards += 1;
      }
    });
    await instance.client.revokeKey({ userId, keyId });
    revoked = true;
    await Promise.all(load);
    expect(usedAfterwards).toBe(0);
  });

  it("works without Redis from the start", async () => {
    const relay = await startRelay(redisUrl());
    await relay.cut();
    const instance = await deployment.startInstance({ REDIS_URL: relay.url });
    const { userId, keyId, value } = await warmKey([instance]);
    await instance.client.revokeKey({ userId, keyId });
    expect(await isRefused(instance, value)).toBe(true);
  });
});

describe("the channel of changes", () => {
  const connections: Redis[] = [];
  const connectToRedis = (subscriber: boolean, url = redisUrl()): Redis => {
    const connection = connectRedis({ url, logger, subscriber });
    connections.push(connection);
    return connection;
  };
  let deployment: Deployment;
  beforeAll(async () => (deployment = await deploy()));
  afterAll(async () => {
    for (const connection of connections) connection.disconnect();
    await deployment.stop();
  });

  it("announces every change that others cache", async () => {
    const subscriber = connectToRedis(true);
    const received: IdentityChange[] = [];
    subscriber.on("message", (_channel, message) => received.push(JSON.parse(message) as IdentityChange));
    await subscriber.subscribe(identityChangedChannel(deployment.channelPrefix));
    const { client } = await deployment.startInstance();
    const user = await newUser(client, { tier: "pro" });
    const { key } = await createKey(client, user.id, { preset: "webhook-receiver" });
    const mine = { userId: user.id, keyId: key!.id };
    const url = "https://example.com";
    const steps: [() => Promise<unknown>, IdentityChange][] = [
      [() => client.updateKey({ ...mine, name: "other", capabilities: undefined, metadata: undefined }), { type: "key", id: mine.keyId }],
      [() => client.setKeyWebhook({ ...mine, url, events: [] }), { type: "key", id: mine.keyId }],
      [
        async () => {
          const { revision } = await client.getWebhookTarget({ keyId: mine.keyId });
          await client.disableWebhook({ keyId: mine.keyId, url, revision, reason: "" });
        },
        { type: "key", id: mine.keyId },
      ],
      [() => client.deleteKeyWebhook(mine), { type: "key", id: mine.keyId }],
      [() => client.rotateKey({ ...mine, graceSeconds: 0 }), { type: "key", id: mine.keyId }],
      [() => client.revokeKey(mine), { type: "key", id: mine.keyId }],
      [() => client.updateUser({ userId: user.id, approved: false }), { type: "user", id: user.id }],
      [
        () => client.putTier({ tier: { id: "told", base: "pro", markupPermille: 1, monthlyMillicredits: 1, concurrency: 1, caps: {} } }),
        { type: "tier", id: "told" },
      ],
      [() => client.deleteTier({ id: "told" }), { type: "tier", id: "told" }],
    ];
    received.length = 0;
    for (const [step] of steps) await step();
    await eventually(async () => (await subscriber.ping(), received.length >= steps.length));
    expect(received).toEqual(steps.map(([, change]) => change));
  });

  it("reaches other processes, and is rejoined when Redis returns", async () => {
    const prefix = `${deployment.channelPrefix}reaches:`;
    const join = (subscriber: Redis): Changes => joinChanges({ publisher: connectToRedis(false), subscriber, prefix, logger });
    const here = join(connectToRedis(true));
    const relay = await startRelay(redisUrl());
    const received: IdentityChange[] = [];
    join(connectToRedis(true, relay.url)).onChange((change) => received.push(change));
    const receivesChange = (id: string): Promise<boolean> =>
      eventually(async () => {
        await here.announce({ type: "key", id });
        return received.some((change) => change.id === id);
      });
    await receivesChange("first");
    await relay.cut();
    await here.announce({ type: "key", id: "missed" });
    await relay.mend();
    await receivesChange("second");
    expect(received).not.toContainEqual({ type: "key", id: "missed" });
    await relay.cut();
  });

  it.each(["", "{", "null", "[]", '{"type":"key"}', '{"type":"session","id":"x"}', '{"type":"key","id":1}'])("ignores %j", (message) => {
    expect(parseIdentityChange(message)).toBeUndefined();
  });
});
