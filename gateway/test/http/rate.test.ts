import { randomUUID } from "node:crypto";
import { connectRedis, createLogger, redisReady } from "@nodeloom/platform";
import { createRateLimits, rateLimitHeaders, type RateLimits } from "../../src/edge/rate/rate";
import { startRelay } from "../../../test-support/relay";
import { startPlatform, type Platform } from "../support/platform";
import { send } from "../support/http";

const logger = createLogger("test", "silent");

const count = async (limits: RateLimits, key: string, points: number, times: number): Promise<number> => {
  let accepted = 0;
  for (let turn = 0; turn < times; turn += 1) {
    await limits.consume({ key, points, tier: "pro" }).then(
      () => (accepted += 1),
      () => undefined,
    );
  }
  return accepted;
};

describe("counting requests", () => {
  it("is shared by every gateway, exact under parallel requests, and kept while Redis is unavailable", async () => {
    const proxy = await startRelay(process.env.REDIS_URL!);
    const connections = [0, 1].map(() => connectRedis({ url: proxy.url, logger }));
    await Promise.all(connections.map((redis) => redisReady(redis, 60_000)));
    const keyPrefix = `test:${randomUUID()}:`;
    const [one, two] = connections.map((redis) => createRateLimits({ redis, keyPrefix })) as [RateLimits, RateLimits];

    const together = await Promise.all([count(one, "a", 20, 30), count(two, "a", 20, 30)]);
    expect(together[0] + together[1]).toBe(20);

    await proxy.cut();
    // If each request waited for Redis, this would take a minute.
    const startedAt = Date.now();
    expect(await count(one, "b", 5, 60)).toBe(5);
    expect(Date.now() - startedAt).toBeLessThan(20_000);

    await proxy.mend();
    await Promise.all(connections.map((redis) => redisReady(redis, 60_000)));
    expect((await Promise.all([count(one, "c", 4, 4), count(two, "c", 4, 4)])).reduce((sum, n) => sum + n, 0)).toBe(4);
    connections.forEach((redis) => redis.disconnect());
    await proxy.stop();
  });

  it("reports the limit, the remaining number and the end of the window", async () => {
    const redis = connectRedis({ url: process.env.REDIS_URL!, logger });
    await redisReady(redis, 60_000);
    const limits = createRateLimits({ redis, keyPrefix: `test:${randomUUID()}:` });
    const before = Math.floor(Date.now() / 1_000);
    const first = await limits.consume({ key: "x", points: 2, tier: "pro" });
    const after = Math.ceil(Date.now() / 1_000);
    expect(first).toMatchObject({ "X-RateLimit-Limit": "2", "X-RateLimit-Remaining": "1" });
    const reset = Number(first["X-RateLimit-Reset"]);
    expect(reset - before).toBeGreaterThanOrEqual(59);
    expect(reset - after).toBeLessThanOrEqual(60);
    await limits.consume({ key: "x", points: 2, tier: "pro" });
    const limitError: unknown = await limits.consume({ key: "x", points: 2, tier: "pro" }).catch((error: unknown) => error);
    expect(limitError).toMatchObject({ reason: "RATE_LIMIT_EXCEEDED", metadata: { tier: "pro", limit: 2 } });
    expect(rateLimitHeaders(limitError)).toMatchObject({ "X-RateLimit-Limit": "2", "X-RateLimit-Remaining": "0" });
    redis.disconnect();
  });
});

describe("limits of requests", () => {
  let platform: Platform;
  let tier: string;
  beforeAll(async () => {
    platform = await startPlatform({ ANONYMOUS_RATE_LIMIT: "40" });
    tier = `tiny-${randomUUID().slice(0, 8)}`;
    const json = { base: "pro", rateLimitPerMinute: 3, markup: 1.5, monthlyCredits: 10, concurrency: 1 };
    await platform.send(`/api/admin/tiers/${tier}`, { method: "PUT", json, headers: platform.bySession(platform.admin) });
  });
  afterAll(() => platform.stop());

  it("are per user and route, across gateways, with headers on success and rejection", async () => {
    const user = await platform.createUser({ tier });
    const other = await platform.startGateway();
    const headers = platform.byKey(user);
    const statuses: number[] = [];
    for (const baseUrl of [platform.baseUrl, other.baseUrl, platform.baseUrl])
      statuses.push((await send(baseUrl, "/api/whoami", { headers })).status);
    expect(statuses).toEqual([200, 200, 200]);
    const reply = await send(other.baseUrl, "/api/whoami", { headers });
    expect(reply.status).toBe(429);
    expect(reply.body).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", tier, limit: 3, retryAfter: Number(reply.headers["retry-after"]) });
    expect(reply.headers).toMatchObject({ "x-ratelimit-limit": "3", "x-ratelimit-remaining": "0" });
    expect(Number(reply.headers["x-ratelimit-reset"])).toBeGreaterThan(Date.now() / 1_000);
    const elsewhere = await platform.send("/api/usage", { headers });
    expect(elsewhere.headers["x-ratelimit-remaining"]).toBe("2");
    await other.stop();
  });

  it("count each execution's polls separately, and malformed ids together", async () => {
    const user = await platform.createUser({ tier });
    const headers = platform.byKey(user);
    const remaining = async (id: string): Promise<unknown> =>
      (await platform.send(`/api/executions/${id}`, { headers })).headers["x-ratelimit-remaining"];
    const id = randomUUID();
    expect([await remaining(id), await remaining(id), await remaining(randomUUID())]).toEqual(
      ["1", "0", "2"].map((_, i) => ["2", "1", "2"][i]),
    );
    expect([await remaining("nonsense"), await remaining("other-nonsense")]).toEqual(["2", "1"]);
  });

  it("don't apply to administrators and unlimited tiers, who get no headers", async () => {
    const enterprise = await platform.createUser({ tier: "enterprise" });
    for (const headers of [platform.byKey(enterprise), platform.byKey(platform.admin)]) {
      const answer = await platform.send("/api/whoami", { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers["x-ratelimit-limit"]).toBeUndefined();
    }
  });

  it("apply to registrations of an address, before a password is hashed, and to no other address", async () => {
    const edge = await platform.startGateway({ REGISTRATION_RATE_LIMIT: "3", TRUST_PROXY: "1" });
    const register = (address: string) =>
      send(edge.baseUrl, "/api/auth/register", { json: { email: "x", password: "y" }, headers: { "x-forwarded-for": address } });
    const statuses: number[] = [];
    for (let times = 0; times < 4; times += 1) statuses.push((await register("203.0.113.80")).status);
    expect(statuses).toEqual([400, 400, 400, 429]);
    expect((await register("203.0.113.80")).body).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", limit: 3 });
    expect((await register("203.0.113.81")).status).toBe(400);
    await edge.stop();
  });

  it("apply to clients that keep sending invalid keys, per address", async () => {
    const edge = await platform.startGateway({ ANONYMOUS_RATE_LIMIT: "5", TRUST_PROXY: "1" });
    const attempt = (from: string): Promise<Awaited<ReturnType<typeof send>>> =>
      send(edge.baseUrl, "/api/whoami", { headers: { "x-api-key": "bad", "x-forwarded-for": from } });
    const statuses: number[] = [];
    for (let turn = 0; turn < 6; turn += 1) statuses.push((await attempt("192.0.2.1")).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await attempt("192.0.2.2")).status).toBe(401);
    expect((await attempt("192.0.2.1")).body).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", tier: "anonymous", limit: 5 });
    await edge.stop();
  });
});
