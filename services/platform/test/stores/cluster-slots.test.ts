import { randomUUID } from "node:crypto";
import { connectRedis, createClusterSlots, NoSlot, redisReady, type ClusterSlots, type Logger, type Redis, type Slots } from "../../src";
import { eventually } from "../../../../test-support/eventually";
import { startRelay, type Relay } from "../../../../test-support/relay";

/** Each member is a process of its own: it has its own connection to the real Redis, through a relay that can fail. */

const LEASE_MS = 1_500;
const LIMIT = 4;
const MAX_WAIT_MS = 60_000;
const logger = { warn: () => undefined, info: () => undefined } as unknown as Logger;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Member {
  cluster: ClusterSlots;
  slots: Slots;
  redis: Redis;
  relay: Relay;
}

const member = async (keyPrefix: string, processes?: number): Promise<Member> => {
  const relay = await startRelay(process.env.REDIS_URL!);
  closers.push(() => relay.stop());
  const redis = connectRedis({ url: relay.url, logger });
  closers.push(() => redis.disconnect());
  await redisReady(redis, MAX_WAIT_MS);
  const cluster = createClusterSlots({ redis, keyPrefix, leaseMs: LEASE_MS, ...(processes === undefined ? {} : { processes }) });
  closers.push(() => cluster.stop());
  return { cluster, slots: cluster.of("a provider", { concurrency: LIMIT, queueLimit: 1_000 }), redis, relay };
};
const newPrefix = (): string => `test:${randomUUID()}:`;
/** Two processes that know of each other. */
const pair = async (): Promise<[Member, Member]> => {
  const prefix = newPrefix();
  const members: [Member, Member] = [await member(prefix), await member(prefix)];
  await eventually(() => members.every(({ cluster }) => cluster.processes() === 2));
  return members;
};

const options = (part: object = {}): Parameters<Slots["enter"]>[0] => ({ maxWaitMs: MAX_WAIT_MS, ...part });

/** Counts how much work runs at once, over all processes. */
const createWork = () => {
  const counts = { running: 0, most: 0, done: 0 };
  return {
    counts,
    work: async (): Promise<void> => {
      counts.running += 1;
      counts.most = Math.max(counts.most, counts.running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      counts.running -= 1;
      counts.done += 1;
    },
  };
};

it("never runs more work at once than the limit, in all processes together, and lets all processes work", async () => {
  const [one, other] = await pair();
  const { counts, work } = createWork();
  const doneBy = [0, 0];
  const all = [one, other].flatMap(({ slots }, index) =>
    Array.from({ length: 60 }, (_, number) =>
      slots.use(work, options({ key: `user ${number % 3}` })).then(() => {
        doneBy[index]! += 1;
        return [...doneBy];
      }),
    ),
  );
  const halfway = (await Promise.all(all)).filter(([first, second]) => first! + second! === 60)[0]!;
  expect(counts).toEqual({ running: 0, most: LIMIT, done: 120 });
  for (const done of halfway) expect(done).toBeGreaterThan(10);
  expect([one, other].map(({ slots }) => slots.load())).toEqual(Array(2).fill({ inUse: 0, waiting: 0 }));
});

it("gives the slots of a killed process to the others when its leases end, and not before", async () => {
  const [dead, other] = await pair();
  for (let count = 0; count < LIMIT; count += 1) await dead.slots.enter(options());
  const since = Date.now();
  // Its connection is gone, so it renews nothing.
  await dead.relay.cut();
  const release = await other.slots.enter(options());
  const waitedMs = Date.now() - since;
  expect(waitedMs).toBeGreaterThan(LEASE_MS / 2);
  expect(waitedMs).toBeLessThan(2 * LEASE_MS + 5_000);
  release();
});

it("keeps the slots of work that runs longer than a lease", async () => {
  const [one, other] = await pair();
  const releases = await Promise.all(Array.from({ length: LIMIT }, () => one.slots.enter(options())));
  await expect(other.slots.enter(options({ maxWaitMs: 3 * LEASE_MS }))).rejects.toThrow(NoSlot);
  releases[0]!();
  (await other.slots.enter(options()))();
});

it("continues with its share of the slots while Redis is unavailable, and with all of them afterwards", async () => {
  const members = await pair();
  for (const { relay } of members) await relay.cut();
  await eventually(() => members.every(({ cluster }) => !cluster.isShared()));
  const { counts, work } = createWork();
  await Promise.all(members.flatMap(({ slots }) => Array.from({ length: 20 }, () => slots.use(work, options()))));
  expect(counts).toEqual({ running: 0, most: LIMIT, done: 40 });
  for (const { relay } of members) await relay.mend();
  await eventually(() => members.every(({ cluster }) => cluster.isShared()));
  const releases = await Promise.all(Array.from({ length: LIMIT }, () => members[0].slots.enter(options())));
  expect(releases).toHaveLength(LIMIT);
});

it("counts work that began before or during an outage of Redis when Redis is back without its data", async () => {
  const members = await pair();
  const [one, other] = members;
  await one.slots.enter(options());
  for (const { relay } of members) await relay.cut();
  await eventually(() => members.every(({ cluster }) => !cluster.isShared()));
  await one.slots.enter(options());
  const direct = connectRedis({ url: process.env.REDIS_URL!, logger });
  closers.push(() => direct.disconnect());
  await redisReady(direct, MAX_WAIT_MS);
  await direct.del(...(await direct.keys("test:*slots:*")));
  for (const { relay } of members) await relay.mend();
  await eventually(() => members.every(({ cluster }) => cluster.isShared()));
  for (let count = 2; count < LIMIT; count += 1) await other.slots.enter(options());
  await expect(other.slots.enter(options({ maxWaitMs: LEASE_MS }))).rejects.toThrow(NoSlot);
});

it("assumes a number of processes while it has never reached Redis", async () => {
  const relay = await startRelay(process.env.REDIS_URL!);
  await relay.cut();
  const redis = connectRedis({ url: relay.url, logger });
  closers.push(() => redis.disconnect());
  const cluster = createClusterSlots({ redis, keyPrefix: newPrefix(), processes: 3, leaseMs: LEASE_MS });
  closers.push(() => cluster.stop());
  const slots = cluster.of("a provider", { concurrency: 6, queueLimit: 10 });
  const releases = [await slots.enter(options()), await slots.enter(options())];
  await expect(slots.enter(options({ maxWaitMs: 200 }))).rejects.toThrow(NoSlot);
  releases[0]!();
  await slots.enter(options());
});

it("stops waiting when its signal is aborted, and leaves the turn to the next", async () => {
  const [one] = await pair();
  const releases = await Promise.all(Array.from({ length: LIMIT }, () => one.slots.enter(options())));
  const cancel = new AbortController();
  const cancelled = one.slots.enter(options({ signal: cancel.signal }));
  const next = one.slots.enter(options());
  await eventually(() => one.slots.load().waiting === 2);
  cancel.abort(new Error("the run was cancelled"));
  await expect(cancelled).rejects.toThrow("the run was cancelled");
  releases[0]!();
  (await next)();
});

it("remembers only resources that are in use, however many there were", async () => {
  const { cluster } = await member(newPrefix());
  const names = Array.from({ length: 200 }, (_, index) => `account ${index}`);
  const slots = names.map((name) => cluster.of(name, { concurrency: 1, queueLimit: 1 }));
  await Promise.all(slots.map((one) => one.use(() => Promise.resolve(), options())));
  expect(cluster.resources()).toBe(0);
  const leave = await slots[7]!.enter(options());
  expect([cluster.resources(), slots[7]!.load().inUse]).toEqual([1, 1]);
  leave();
  expect(cluster.resources()).toBe(0);
});
