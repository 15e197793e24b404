import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { COMMAND_TIMEOUT_MS, connectRedis, redisReady, type Logger, type Redis } from "../../src";
import { startRelay, type Relay } from "../../../../test-support/relay";

const lines: string[] = [];
const note = (first: unknown, second?: string): void => void lines.push(second ?? String(first));
const logger = { warn: note, info: note } as unknown as Logger;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  lines.length = 0;
});

const startRedis = async (): Promise<{ relay: Relay; open(subscriber?: boolean): Redis }> => {
  const relay = await startRelay(process.env.REDIS_URL!);
  closers.push(() => relay.stop());
  return {
    relay,
    open: (subscriber = false) => {
      const redis = connectRedis({ url: relay.url, logger, subscriber });
      closers.push(() => redis.disconnect());
      return redis;
    },
  };
};

const key = (): string => `test:${randomUUID()}`;
/** Error of a command; undefined if it succeeded. */
const failureOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: Error) => error.message,
  );
const TIMED_OUT = "Command timed out";
/** Limit that only a connection that never opens reaches. */
const LONG_MS = 60_000;
const ready = (redis: Redis): Promise<boolean> => redisReady(redis, LONG_MS);
const closed = (redis: Redis): Promise<unknown> => once(redis, "close");

describe("a Redis connection", () => {
  it("is ready soon", async () => {
    const { open } = await startRedis();
    const redis = open();
    expect(await ready(redis)).toBe(true);
    expect(await ready(redis)).toBe(true);
    const name = key();
    await redis.set(name, "1", "PX", 10_000);
    expect(await redis.get(name)).toBe("1");
    expect(lines).toEqual([]);
  });

  it("fails commands at once while the server is unavailable, and then serves them again", async () => {
    const { relay, open } = await startRedis();
    const redis = open();
    await ready(redis);
    const close = closed(redis);
    await relay.cut();
    await close;
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const failure = await failureOf(redis.get("x"));
      expect(failure).toEqual(expect.any(String));
      expect(failure).not.toBe(TIMED_OUT);
    }
    const back = once(redis, "ready");
    await relay.mend();
    await back;
    expect(await redis.ping()).toBe("PONG");
  });

  it("fails commands in progress when the server is lost", async () => {
    const { relay, open } = await startRedis();
    const redis = open();
    await ready(redis);
    const waiting = failureOf(redis.blpop(key(), 30));
    await redis.ping().catch(() => undefined);
    await relay.cut();
    expect(await waiting).toEqual(expect.any(String));
  });

  it("drops a silent server after a second, and reconnects", async () => {
    const { relay, open } = await startRedis();
    const redis = open();
    await ready(redis);
    relay.freeze();
    const askedAt = performance.now();
    expect(await failureOf(redis.get("x"))).toBe(TIMED_OUT);
    expect(performance.now() - askedAt).toBeGreaterThanOrEqual(COMMAND_TIMEOUT_MS - 10);
    expect(COMMAND_TIMEOUT_MS).toBe(1_000);
    const back = once(redis, "ready");
    await relay.mend();
    await back;
    expect(await redis.ping()).toBe("PONG");
  });

  it("doesn't treat the server as silent if the process itself was paused", async () => {
    const { open } = await startRedis();
    const redis = open();
    await ready(redis);
    const answer = redis.ping();
    const until = performance.now() + COMMAND_TIMEOUT_MS + 200;
    while (performance.now() < until);
    expect(await answer).toBe("PONG");
  });

  it("can be opened while the server is unavailable, logs that once, and connects later", async () => {
    const { relay, open } = await startRedis();
    await relay.cut();
    const redis = open();
    expect(await redisReady(redis, 400)).toBe(false);
    expect(await failureOf(redis.get("x"))).toEqual(expect.any(String));
    const back = ready(redis);
    await relay.mend();
    expect(await back).toBe(true);
    expect(lines).toEqual(["redis is away", "redis is back"]);
  });

  it("leaves no listeners behind when it is awaited repeatedly", async () => {
    const { relay, open } = await startRedis();
    await relay.cut();
    const redis = open();
    const before = redis.listenerCount("ready");
    for (let time = 0; time < 20; time += 1) await redisReady(redis, 1);
    expect(redis.listenerCount("ready")).toBe(before);
  });
});

describe("a subscriber", () => {
  it("keeps its subscriptions over an outage of the server", async () => {
    const { relay, open } = await startRedis();
    const [subscriber, publisher] = [open(true), open()];
    const channel = key();
    const messages: string[] = [];
    subscriber.on("message", (_channel, message) => messages.push(message));
    await subscriber.subscribe(channel);
    await ready(publisher);
    const first = once(subscriber, "message");
    await publisher.publish(channel, "before");
    // If the command were still in transit, it would be lost with the connection.
    await first;
    const close = closed(subscriber);
    await relay.cut();
    await close;
    const back = Promise.all([once(subscriber, "ready"), once(publisher, "ready")]);
    await relay.mend();
    await back;
    // The connection is ready before its subscriptions are restored.
    while ((await publisher.publish(channel, "after")) === 0);
    await subscriber.ping();
    expect([messages[0], messages.at(-1)]).toEqual(["before", "after"]);
  });

  it("subscribes once the server is available", async () => {
    const { relay, open } = await startRedis();
    await relay.cut();
    const subscriber = open(true);
    const subscribed = subscriber.subscribe(key());
    await relay.mend();
    expect(await subscribed).toBe(1);
  });
});
