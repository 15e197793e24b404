import { randomUUID } from "node:crypto";
import { connectRedis, createAccountKeys, createLogger, redisReady, type Redis } from "@nodeloom/platform";
import { createIdempotency, idempotencyKey, type Idempotency, type RenderedReply } from "../../src/edge/idempotency";
import { startRelay } from "../../../test-support/relay";
import { eventually } from "../../../test-support/eventually";
import { deferred } from "../../../test-support/deferred";

const logger = createLogger("test", "silent");
const reply = (status: number, text = "{}"): RenderedReply => ({ status, headers: { "X-Execution-Id": "e" }, text });

let redis: Redis;
let idempotency: Idempotency;
beforeAll(async () => {
  redis = connectRedis({ url: process.env.REDIS_URL!, logger });
  await redisReady(redis, PATIENCE_MS);
  idempotency = createIdempotency({ redis, keyPrefix: `test:${randomUUID()}:`, logger });
});
afterAll(() => redis.disconnect());

const PATIENCE_MS = 20_000;
/** The only record with a prefix. */
const recordOf = async (keyPrefix: string): Promise<string> => (await redis.keys(`${keyPrefix}*`))[0]!;
const requestOf = (fingerprint = "body") => ({ key: randomUUID(), owner: "user", scope: "user POST /x", fingerprint });

describe("an Idempotency-Key", () => {
  it("lets one of many simultaneous requests do the work; the others must wait", async () => {
    const request = requestOf();
    const { promise: finished, resolve: finish } = deferred();
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
    const losers: unknown[] = [];
    for (const attempt of attempts) void attempt.then((answer) => losers.push(answer));
    await eventually(() => losers.length >= 19);
    expect(works).toBe(1);
    for (const loser of losers) expect(loser).toMatchObject({ reason: "IDEMPOTENCY_IN_PROGRESS", metadata: { retryAfter: 1 } });
    finish();
    await Promise.all(attempts);
    expect(works).toBe(1);
  });

  it("is free again once its account is erased", async () => {
    const keyPrefix = `test:${randomUUID()}:`;
    const { once } = createIdempotency({ redis, keyPrefix, logger });
    const request = requestOf();
    await once(request, () => Promise.resolve(reply(200, `"of an erased account"`)));
    const other = { ...requestOf(), owner: "other" };
    await once(other, () => Promise.resolve(reply(200, `"of another"`)));
    expect(await createAccountKeys({ redis, keyPrefix }).removeAnswers("user")).toBe(1);
    expect(await once(request, () => Promise.resolve(reply(201)))).toEqual(reply(201));
    expect((await once(other, () => Promise.resolve(reply(201)))).text).toBe(`"of another"`);
  });

  it("replays the stored response, and marks it", async () => {
    const request = requestOf();
    await idempotency.once(request, () => Promise.resolve(reply(201, '{"n":1.0}')));
    const again = await idempotency.once(request, () => Promise.reject(new Error("must not work twice")));
    expect(again).toEqual({ status: 201, headers: { "X-Execution-Id": "e", "Idempotency-Replayed": "true" }, text: '{"n":1.0}' });
  });

  it("is rejected with another body, running or done, and free in another scope", async () => {
    const request = requestOf();
    await idempotency.once(request, () => Promise.resolve(reply(200)));
    const other = idempotency.once({ ...request, fingerprint: "other" }, () => Promise.resolve(reply(200)));
    await expect(other).rejects.toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
    const elsewhere = await idempotency.once({ ...request, scope: "another", fingerprint: "other" }, () => Promise.resolve(reply(202)));
    expect(elsewhere.status).toBe(202);
  });

  it.each([429, 500, 503])("stores no %s, and the next attempt has the same execution id", async (status) => {
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

  it.each(["EXECUTION_FAILED", "PROVIDER_SUBMIT_FAILED", "PROVIDER_RESPONSE_INCOMPLETE"])(
    "replays %s, because that run has ended",
    async (code) => {
      const request = requestOf();
      const text = JSON.stringify({ error: "it failed", code });
      await idempotency.once(request, () => Promise.resolve(reply(500, text)));
      const again = await idempotency.once(request, () => Promise.reject(new Error("must not work twice")));
      expect(again).toEqual({ status: 500, headers: { "X-Execution-Id": "e", "Idempotency-Replayed": "true" }, text });
    },
  );

  it("is taken over with the same execution id after its holder dies, whose late response isn't stored", async () => {
    const dying = connectRedis({ url: process.env.REDIS_URL!, logger });
    await redisReady(dying, PATIENCE_MS);
    const keyPrefix = `test:${randomUUID()}:`;
    const first = createIdempotency({ redis: dying, keyPrefix, logger, leaseMs: PATIENCE_MS });
    const second = createIdempotency({ redis, keyPrefix, logger, leaseMs: PATIENCE_MS });
    const request = requestOf();
    let firstId = "";
    let finish: (value: RenderedReply) => void = () => undefined;
    const firstReply = first.once(request, (id) => {
      firstId = id;
      return new Promise((resolve) => (finish = resolve));
    });
    const secondReply: unknown = await second.once(request, () => Promise.resolve(reply(200))).catch((error: unknown) => error);
    expect(secondReply).toMatchObject({ reason: "IDEMPOTENCY_IN_PROGRESS" });
    // The holder can't renew its lease from here on, so the lease expires.
    dying.disconnect();
    const leaseUntil = Number(await redis.hget(await recordOf(keyPrefix), "leaseUntil"));
    expect(leaseUntil).toBeGreaterThan(Date.now());
    expect(leaseUntil).toBeLessThanOrEqual(Date.now() + PATIENCE_MS);
    await redis.hset(await recordOf(keyPrefix), "leaseUntil", Date.now() - 1);
    let secondId = "";
    await second.once(request, (id) => {
      secondId = id;
      return Promise.resolve(reply(200, '"second"'));
    });
    expect(secondId).toBe(firstId);
    finish(reply(200, '"first"'));
    await firstReply;
    expect((await second.once(request, () => Promise.reject(new Error("done already")))).text).toBe('"second"');
  });

  it("renews its lease as long as the work takes", async () => {
    const keyPrefix = `test:${randomUUID()}:`;
    const patient = createIdempotency({ redis, keyPrefix, logger, leaseMs: 600 });
    let finish: () => void = () => undefined;
    const running = patient.once(requestOf(), () => new Promise((resolve) => (finish = () => resolve(reply(200)))));
    const leases = new Set<string>();
    await eventually(async () => {
      const record = await recordOf(keyPrefix);
      if (record) leases.add((await redis.hget(record, "leaseUntil"))!);
      return leases.size > 4;
    });
    expect([...leases]).toEqual([...leases].sort());
    finish();
    expect((await running).status).toBe(200);
  });

  it("is rejected while the store is unavailable", async () => {
    const proxy = await startRelay(process.env.REDIS_URL!);
    const away = connectRedis({ url: proxy.url, logger });
    await redisReady(away, PATIENCE_MS);
    await proxy.cut();
    const result = createIdempotency({ redis: away, keyPrefix: "x:", logger }).once(requestOf(), () =>
      Promise.reject(new Error("must not work")),
    );
    await expect(result).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    away.disconnect();
    await proxy.stop();
  });

  it.each(["", " ", "x".repeat(256), "täg", "a\nb"])("with an invalid form is rejected: %j", (value) => {
    expect(() => idempotencyKey(value)).toThrow(/Idempotency-Key/);
  });
});
