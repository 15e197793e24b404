import { randomUUID } from "node:crypto";
import { CACHE_TTL_MS } from "../../../services/identity/src/keys/key-cache";
import { CALLER_FRESH_MS } from "../../src/http/limits";
import { send } from "../support/http";
import { startPlatform, type Platform, type User } from "../support/platform";
import { startRelay, type Relay } from "../../../test-support/relay";

const PATIENCE_MS = 20_000;

let platform: Platform;
let proxy: Relay;
let edge: { baseUrl: string; stop(): Promise<void> };
let pro: User;

beforeAll(async () => {
  platform = await startPlatform();
  pro = await platform.createUser({ tier: "business" });
  proxy = await startRelay(process.env.REDIS_URL!);
  // Identity keeps its own connection, so only the gateway loses Redis.
  edge = await platform.startGateway({ REDIS_URL: proxy.url });
});
afterAll(async () => {
  await edge.stop();
  await platform.stop();
  await proxy.stop();
});

const get = (path: string, headers: Record<string, string>) => send(edge.baseUrl, path, { headers });

describe("a gateway that has lost Redis", () => {
  beforeAll(() => proxy.cut());

  it("still accepts keys, and still counts them", async () => {
    const first = await get("/api/usage", platform.byKey(pro));
    const second = await get("/api/usage", platform.byKey(pro));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(Number(second.headers["x-ratelimit-remaining"])).toBe(Number(first.headers["x-ratelimit-remaining"]) - 1);
  });

  it("still rejects a revoked key, within the time that its cache and identity's cache allow", async () => {
    expect(CALLER_FRESH_MS + CACHE_TTL_MS).toBeLessThan(1_000);
    const created = await platform.send("/api/keys", { json: { name: "k", preset: "read-only" }, headers: platform.bySession(pro) });
    const headers = { "x-api-key": String(created.body.key) };
    expect((await get("/api/whoami", headers)).status).toBe(200);
    await platform.send(`/api/keys/${String(created.body.id)}`, { method: "DELETE", headers: platform.bySession(pro) });
    const deadline = Date.now() + PATIENCE_MS;
    let { status } = await get("/api/whoami", headers);
    while (status === 200 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      ({ status } = await get("/api/whoami", headers));
    }
    expect(status).toBe(401);
  });

  it("reports that sessions are unavailable, and follows idempotency keys by their created resources", async () => {
    const session = await get("/api/whoami", { cookie: pro.cookie });
    expect([session.status, session.body.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    const headers = { ...platform.byKey(pro), "idempotency-key": randomUUID() };
    const create = () => send(edge.baseUrl, "/api/workflows", { json: { name: "x" }, headers });
    const [first, second] = [await create(), await create()];
    expect([first.status, second.status, second.body.slug]).toEqual([201, 201, first.body.slug]);
  });

  it("reconnects to Redis automatically", async () => {
    await proxy.mend();
    const deadline = Date.now() + PATIENCE_MS;
    let { status } = await get("/api/whoami", { cookie: pro.cookie });
    while (status !== 200 && Date.now() < deadline) ({ status } = await get("/api/whoami", { cookie: pro.cookie }));
    expect(status).toBe(200);
  });
});
