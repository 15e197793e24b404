import { randomUUID } from "node:crypto";
import { connectRedis, createLogger, redisReady, type Redis } from "@nodeloom/platform";
import { createIdempotency, idempotencyKey, type Idempotency, type RenderedReply } from "../src/idempotency";
import { startCuttableProxy } from "./support/proxy";

const logger = createLogger("test", "silent");
const reply = (status: number, text = "{}"): RenderedReply => ({ status, headers: { "X-Execution-Id": "e" }, text });

let redis: Redis;
let idempotency: Idempotency;
beforeAll(async () => {
  redis = connectRedis({ url: process.env.REDIS_URL!, logger });
  await redisReady(redis);
  idempotency = createIdempotency({ redis, keyPrefix: `test:${randomUUID()}:`, logger, leaseMs: 300 });
});
afterAll(() => redis.disconnect());

const requestOf = (content = "body") => ({ key: randomUUID(), scope: "user POST /x", content });

describe("an Idempotency-Key", () => {
  it("lets one of many simultaneous requests work; the others are told to wait", async () => {
    const request = requestOf();
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let works = 0;
    const attempts = Array.from({ length: 20 }, () =>
      idempotency
        .once(request, async () => {
          works += 1;
          await finished;
          return reply(200);
        })
        .catch((error: unknown) => error),
    );
    const losers = await Promise.all(
      attempts.map((attempt) => Promise.race([attempt, new Promise((resolve) => setTimeout(resolve, 200))])),
    );
    finish();
    await Promise.all(attempts);
    expect(works).toBe(1);
    expect(losers.filter(Boolean)).toHaveLength(19);
    expect(losers.find(Boolean)).toMatchObject({ reason: "IDEMPOTENCY_IN_PROGRESS", metadata: { retryAfter: 1 } });
  });

  it("replays the stored answer, and says so", async () => {
    const request = requestOf();
    await idempotency.once(request, () => Promise.resolve(reply(201, '{"n":1.0}')));
    const again = await idempotency.once(request, () => Promise.reject(new Error("must not work twice")));
    expect(again).toEqual({ status: 201, headers: { "X-Execution-Id": "e", "Idempotency-Replayed": "true" }, text: '{"n":1.0}' });
  });

  it("is refused with another body, running or done, and free in another scope", async () => {
    const request = requestOf();
    await idempotency.once(request, () => Promise.resolve(reply(200)));
    const other = idempotency.once({ ...request, content: "other" }, () => Promise.resolve(reply(200)));
    await expect(other).rejects.toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
    const elsewhere = await idempotency.once({ ...request, scope: "another", content: "other" }, () => Promise.resolve(reply(202)));
    expect(elsewhere.status).toBe(202);
  });

  it.each([429, 500, 503])("keeps no %s, and the next attempt has the same execution id", async (status) => {
    const request = requestOf();
    const ids: string[] = [];
    const attempt = (answer: number): Promise<RenderedReply> =>
      idempotency.once(request, (id) => {
        ids.push(id);
        return Promise.resolve(reply(answer));
      });
    expect((await attempt(status)).status).toBe(status);
    expect((await attempt(200)).headers["Idempotency-Replayed"]).toBeUndefined();
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[1]).toBe(ids[0]);
  });

  it("is taken over with the same execution id when its holder has died, whose late answer is not kept", async () => {
    const dying = connectRedis({ url: process.env.REDIS_URL!, logger });
    await redisReady(dying);
    const keyPrefix = `test:${randomUUID()}:`;
    const first = createIdempotency({ redis: dying, keyPrefix, logger, leaseMs: 300 });
    const second = createIdempotency({ redis, keyPrefix, logger, leaseMs: 300 });
    const request = requestOf();
    let firstId = "";
    let finish: (value: RenderedReply) => void = () => undefined;
    const lost = first.once(request, (id) => {
      firstId = id;
      return new Promise((resolve) => (finish = resolve));
    });
    const held: unknown = await second.once(request, () => Promise.resolve(reply(200))).catch((error: unknown) => error);
    expect(held).toMatchObject({ reason: "IDEMPOTENCY_IN_PROGRESS" });
    // From here on the holder cannot renew its lease.
    dying.disconnect();
    let secondId = "";
    for (const deadline = Date.now() + 3_000; secondId === "" && Date.now() < deadline;) {
      await second
        .once(request, (id) => {
          secondId = id;
          return Promise.resolve(reply(200, '"second"'));
        })
        .catch(() => undefined);
    }
    expect(secondId).toBe(firstId);
    finish(reply(200, '"first"'));
    await lost;
    expect((await second.once(request, () => Promise.reject(new Error("done already")))).text).toBe('"second"');
  });

  it("holds its lease for as long as the work takes", async () => {
    const request = requestOf();
    const running = idempotency.once(request, () => new Promise((resolve) => setTimeout(() => resolve(reply(200)), 900)));
    await new Promise((resolve) => setTimeout(resolve, 700));
    await expect(idempotency.once(request, () => Promise.resolve(reply(200)))).rejects.toMatchObject({ reason: "IDEMPOTENCY_IN_PROGRESS" });
    expect((await running).status).toBe(200);
  });

  it("is not promised while the store is away", async () => {
    const proxy = await startCuttableProxy(process.env.REDIS_URL!);
    const away = connectRedis({ url: proxy.url, logger });
    await redisReady(away);
    proxy.cut();
    const refused = createIdempotency({ redis: away, keyPrefix: "x:", logger }).once(requestOf(), () =>
      Promise.reject(new Error("must not work")),
    );
    await expect(refused).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    away.disconnect();
    proxy.stop();
  });

  it.each(["", " ", "x".repeat(256), "täg", "a\nb"])("of a wrong form is refused: %j", (value) => {
    expect(() => idempotencyKey(value)).toThrow(/Idempotency-Key/);
  });
});
