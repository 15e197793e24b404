import { randomUUID } from "node:crypto";
import { connectRedis, createLogger, redisReady, type Redis } from "@nodeloom/platform";
import { eventually } from "../../../../test-support/eventually";
import { createEventChannel, type ChannelEvent, type EventChannel } from "../../src/record/runs/channel";

const prefix = `test:${randomUUID().slice(0, 8)}:`;
const logger = createLogger("test", "silent");
const connections: Redis[] = [];
const PATIENCE_MS = 20_000;

afterAll(() => connections.forEach((each) => each.disconnect()));

const event = (type: string): ChannelEvent => ({ type, at: 1, data: {} });
/** Resolves after a listener received this many events. */
const hearing = (
  channel: EventChannel,
  executionId: string,
  count: number,
  what: "subscribe" | "onTransition" = "subscribe",
): { events: Promise<string[]>; stop: () => void } => {
  const types: string[] = [];
  let stop: () => void = () => undefined;
  const heardTypes = new Promise<string[]>((resolve) => {
    stop = channel[what](executionId, ({ type }) => {
      types.push(type);
      if (types.length === count) resolve(types);
    });
  });
  return { events: heardTypes, stop };
};
const subscribers = async (redis: Redis, executionId: string): Promise<number> =>
  Number((await redis.pubsub("NUMSUB", `${prefix}executions:${executionId}`))[1]);
/** A command can time out on a busy machine. */
const until = (ask: () => Promise<boolean>): Promise<boolean> => eventually(() => ask().catch(() => false));
const untilHeard = async (heardTypes: Promise<unknown>, say: () => unknown): Promise<void> => {
  let isHeard = false;
  void heardTypes.then(() => (isHeard = true));
  await eventually(async () => {
    await say();
    return isHeard;
  });
};

/** A replica with its own two connections. */
const replica = async (): Promise<{ channel: EventChannel; publisher: Redis; subscriber: Redis }> => {
  const url = process.env.REDIS_URL!;
  const [publisher, subscriber] = [connectRedis({ url, logger }), connectRedis({ url, logger, subscriber: true })];
  connections.push(publisher, subscriber);
  await Promise.all([redisReady(publisher, PATIENCE_MS), redisReady(subscriber, PATIENCE_MS)]);
  const channel = createEventChannel({ publisher, subscriber, prefix, logger });
  const id = randomUUID();
  const { events, stop } = hearing(channel, id, 1, "onTransition");
  const probe = `${id} ${JSON.stringify({ from: "elsewhere", event: event("settled") })}`;
  await untilHeard(events, () => publisher.publish(`${prefix}executions:transitions`, probe));
  stop();
  return { channel, publisher, subscriber };
};

it("notifies listeners of this replica at once and those of another over Redis, in order, each once", async () => {
  const [a, b] = [await replica(), await replica()];
  const id = randomUUID();
  const [here, there] = [hearing(a.channel, id, 3), hearing(b.channel, id, 3)];
  await until(async () => (await subscribers(a.publisher, id)) === 2);
  for (const type of ["one", "two", "three"]) a.channel.publish(id, event(type));
  expect(await here.events).toEqual(["one", "two", "three"]);
  expect(await there.events).toEqual(["one", "two", "three"]);
  here.stop();
  there.stop();
});

it("sends transitions to every replica without a subscription to their execution, and nothing else", async () => {
  const [a, b] = [await replica(), await replica()];
  const id = randomUUID();
  const [here, there] = [hearing(a.channel, id, 2, "onTransition"), hearing(b.channel, id, 2, "onTransition")];
  expect(await subscribers(a.publisher, id)).toBe(0);
  const follower = hearing(b.channel, id, 4);
  await until(async () => (await subscribers(a.publisher, id)) === 1);
  for (const type of ["admitted", "node.started", "node.completed", "settled"]) a.channel.publish(id, event(type));
  expect(await here.events).toEqual(["admitted", "settled"]);
  expect(await there.events).toEqual(["admitted", "settled"]);
  expect(await follower.events).toEqual(["admitted", "node.started", "node.completed", "settled"]);
  for (const { stop } of [here, there, follower]) stop();
});

it("receives transitions again after its connection was lost", async () => {
  const [a, b] = [await replica(), await replica()];
  const id = randomUUID();
  const { events, stop } = hearing(a.channel, id, 1, "onTransition");
  a.subscriber.disconnect(true);
  await until(() => Promise.resolve(a.subscriber.status === "ready"));
  await untilHeard(events, () => b.channel.publish(id, event("settled")));
  stop();
});

it("receives transitions even if it was created before its connection", async () => {
  const url = process.env.REDIS_URL!;
  const [publisher, subscriber] = [connectRedis({ url, logger }), connectRedis({ url, logger, subscriber: true })];
  connections.push(publisher, subscriber);
  expect(subscriber.status).not.toBe("ready");
  const { events, stop } = hearing(createEventChannel({ publisher, subscriber, prefix, logger }), "early", 1, "onTransition");
  const b = await replica();
  await untilHeard(events, () => b.channel.publish("early", event("settled")));
  stop();
});

it("leaves no subscription behind, and keeps it while it has a listener", async () => {
  const a = await replica();
  const id = randomUUID();
  const [first, second] = [hearing(a.channel, id, 1), hearing(a.channel, id, 1)];
  await until(async () => (await subscribers(a.publisher, id)) === 1);
  first.stop();
  expect(await subscribers(a.publisher, id)).toBe(1);
  second.stop();
  await until(async () => (await subscribers(a.publisher, id)) === 0);
});

it("ignores messages that aren't events", async () => {
  const [a, b] = [await replica(), await replica()];
  const id = randomUUID();
  const { events, stop } = hearing(a.channel, id, 1);
  await until(async () => (await subscribers(a.publisher, id)) === 1);
  for (const noise of ["not json", "null", "{}", '{"from":"x","event":null}'])
    for (const [channel, before] of [
      [`executions:${id}`, ""],
      ["executions:transitions", `${id} `],
    ])
      await b.publisher.publish(`${prefix}${channel}`, `${before}${noise}`);
  b.channel.publish(id, event("real"));
  expect(await events).toEqual(["real"]);
  stop();
});

it("receives again after its connection was lost, including subscriptions made meanwhile", async () => {
  const [a, b] = [await replica(), await replica()];
  const [before, meanwhile] = [randomUUID(), randomUUID()];
  const first = hearing(a.channel, before, 1);
  await until(async () => (await subscribers(b.publisher, before)) === 1);
  a.subscriber.disconnect(true);
  const second = hearing(a.channel, meanwhile, 1);
  await until(async () => (await subscribers(b.publisher, before)) + (await subscribers(b.publisher, meanwhile)) === 2);
  b.channel.publish(before, event("first"));
  b.channel.publish(meanwhile, event("second"));
  expect([await first.events, await second.events]).toEqual([["first"], ["second"]]);
  first.stop();
  second.stop();
});

it("neither waits nor fails while Redis is unavailable", async () => {
  const a = await replica();
  a.publisher.disconnect();
  a.subscriber.disconnect();
  const { events, stop } = hearing(a.channel, "x", 1);
  a.channel.publish("x", event("local"));
  expect(await events).toEqual(["local"]);
  stop();
});
