import { randomUUID } from "node:crypto";
import { UUID } from "@nodeloom/kernel";
import { connectRedis, createLogger, redisReady, type Redis } from "@nodeloom/platform";
import { createLeases, fingerprintOf, keyedId, resourceOf, type Leases } from "../../src/edge/lease";
import { readPrefer } from "../../src/http/prefer";
import { startRelay } from "../../../test-support/relay";

const logger = createLogger("test", "silent");
let redis: Redis;
let leases: Leases;
beforeAll(async () => {
  redis = connectRedis({ url: process.env.REDIS_URL!, logger });
  await redisReady(redis, 20_000);
  leases = createLeases({ redis, keyPrefix: `test:${randomUUID()}:`, logger });
});
afterAll(() => redis.disconnect());

const POST_A = resourceOf("POST", "/a", {});

describe("the id of a key", () => {
  it("is a UUID, the same for the same request, and another for any other user, method, path or key", () => {
    const id = keyedId("u", POST_A, "k");
    expect(id).toMatch(UUID);
    expect(keyedId("u", POST_A, "k")).toBe(id);
    const others = [
      keyedId("v", POST_A, "k"),
      keyedId("u", resourceOf("PUT", "/a", {}), "k"),
      keyedId("u", resourceOf("POST", "/a", { id: "b" }), "k"),
      keyedId("u", POST_A, "l"),
    ];
    expect(new Set([id, ...others]).size).toBe(5);
  });

  it("differs if the parts are equal only when they are concatenated", () => {
    expect(keyedId("u", "/a", "b c")).not.toBe(keyedId("u", "/a b", "c"));
    expect(fingerprintOf({ async: true }, "{}")).not.toBe(fingerprintOf({}, "{}"));
  });
});

describe("a request under a key", () => {
  it("keeps other requests with the key waiting, and distinguishes another body", async () => {
    const id = randomUUID();
    let finish: () => void = () => undefined;
    const answering = leases.hold(id, "f", () => new Promise<void>((resolve) => (finish = resolve)));
    const isHeld = async (): Promise<boolean> =>
      leases
        .hold(id, "f", () => Promise.resolve("free"))
        .then(
          () => false,
          () => true,
        );
    while (!(await isHeld())) await new Promise((resolve) => setImmediate(resolve));
    await expect(leases.hold(id, "f", () => Promise.resolve())).rejects.toMatchObject({ reason: "IDEMPOTENCY_IN_PROGRESS" });
    await expect(leases.hold(id, "g", () => Promise.resolve())).rejects.toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
    finish();
    await answering;
    expect(await leases.hold(id, "g", () => Promise.resolve("answered"))).toBe("answered");
  });

  it("releases the key when it fails", async () => {
    const id = randomUUID();
    await expect(leases.hold(id, "f", () => Promise.reject(new Error("x")))).rejects.toThrow("x");
    expect(await leases.hold(id, "f", () => Promise.resolve(1))).toBe(1);
  });

  it("is answered without Redis: it joins the running request", async () => {
    const proxy = await startRelay(process.env.REDIS_URL!);
    const away = connectRedis({ url: proxy.url, logger });
    await redisReady(away, 20_000);
    await proxy.cut();
    const without = createLeases({ redis: away, keyPrefix: "x:", logger });
    expect(await without.hold("id", "f", () => Promise.resolve("answered"))).toBe("answered");
    away.disconnect();
    await proxy.stop();
  });
});

it.each([
  [undefined, { respondAsync: false, noQueue: false, wait: undefined }],
  ["respond-async", { respondAsync: true, noQueue: false, wait: undefined }],
  ["Respond-Async; wait=5, no-queue", { respondAsync: true, noQueue: true, wait: 5 }],
  [["wait=10", "no-queue"], { respondAsync: false, noQueue: true, wait: 10 }],
  ['handling=lenient, wait="7", wait=9,', { respondAsync: false, noQueue: false, wait: 7 }],
])("reads Prefer: %s", (header, preferences) => {
  expect(readPrefer(header)).toEqual(preferences);
});

it.each(["wait=soon", "wait", "wait=-1", "wait=1.5", "respond-async=yes", "no queue", "=5", 'wait="5', "wait==5"])(
  "rejects an invalid Prefer: %s",
  (header) => {
    expect(() => readPrefer(`respond-async, ${header}`)).toThrow(
      expect.objectContaining({ reason: "INVALID_REQUEST", metadata: { issues: [expect.objectContaining({ path: "Prefer" })] } }),
    );
  },
);
