import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import {
  COMMAND_TIMEOUT_MS,
  connectRedis,
  createAccountKeys,
  createClusterSlots,
  createLogger,
  createWindowCounter,
  redisReady,
  scanKeys,
  type Redis,
} from "@nodeloom/platform";
import express from "express";
import type { Redis as Connection } from "ioredis";
import { createSharedOutages, type SharedOutage } from "../../../services/executions/src/calls/shared-outages";
import { createEventChannel } from "../../../services/executions/src/record/runs/channel";
import { deferred } from "../../../test-support/deferred";
import { eventually } from "../../../test-support/eventually";
import { startCluster, startSentinels, type RedisGroup } from "../../../test-support/redis-groups";
import { createSessions } from "../../src/auth/session";
import { createCancellations } from "../../src/edge/cancellations";
import { createIdempotency } from "../../src/edge/idempotency";
import { createLeases } from "../../src/edge/lease";

/** What every part that uses Redis promises, with one server, with Sentinels and with a cluster. */

const PATIENCE_MS = 60_000;
/** Time after which a replica has taken the place of a lost primary, on a busy machine. */
const FAILOVER_MS = 30_000;
const logger = createLogger("test", "silent");
/** Every key that matches a pattern, once. */
const keysOf = async (redis: Redis, pattern: string): Promise<string[]> => {
  const keys = new Set<string>();
  for await (const page of scanKeys(redis, pattern, 100)) for (const key of page) keys.add(key);
  return [...keys];
};
const nothing = (): Promise<void> => Promise.resolve();
const single = (): Promise<RedisGroup> =>
  Promise.resolve({
    url: process.env.REDIS_URL!,
    killPrimary: nothing,
    kill: nothing,
    restart: nothing,
    tlsPorts: () => [],
    stop: nothing,
  });

describe.each([
  ["one server", single],
  ["Sentinels", () => startSentinels()],
  ["a cluster", () => startCluster()],
] as const)("with %s", (name, start) => {
  let group: RedisGroup;
  let redis: Redis;
  let other: Redis;
  const prefix = `test:${randomUUID()}:`;
  const connections: Redis[] = [];
  const open = (subscriber = false): Redis => {
    const connection = connectRedis({ url: group.url, logger, subscriber });
    connections.push(connection);
    return connection;
  };
  beforeAll(async () => {
    group = await start();
    [redis, other] = [open(), open()];
    for (const connection of connections) expect(await redisReady(connection, PATIENCE_MS)).toBe(true);
  });
  afterAll(async () => {
    for (const connection of connections) connection.disconnect();
    await group?.stop();
  });

  it("processes share the slots of each resource", async () => {
    const members = [redis, other].map((connection) => createClusterSlots({ redis: connection, keyPrefix: prefix }));
    await eventually(() => members.every((member) => member.isShared()));
    // Names that spread over all nodes.
    for (const resource of ["a", "b", "c", "d"]) {
      const [one, two] = members.map((member) => member.of(resource, { concurrency: 1, queueLimit: 10 }));
      const release = await one!.enter({ maxWaitMs: PATIENCE_MS });
      await expect(two!.enter({ maxWaitMs: 1 })).rejects.toThrow("none came free in time");
      release();
      (await two!.enter({ maxWaitMs: PATIENCE_MS }))();
    }
    expect(members.every((member) => member.isShared())).toBe(true);
    for (const member of members) await member.stop();
  });

  it("processes share what they know about outages", async () => {
    const [one, two] = [redis, other].map((connection) => createSharedOutages({ redis: connection, keyPrefix: prefix, logger }));
    const outages: (SharedOutage | undefined)[] = [];
    two!.follow("provider", (outage) => void outages.push(outage));
    const peers = one!.peersOf("provider");
    peers.publish({ failures: 5, lastedMs: 1, openings: 1 });
    await eventually(() => outages.at(-1)?.failures === 5);
    peers.clear();
    await eventually(() => outages.at(-1) === undefined);
    for (const shared of [one!, two!]) shared.stop();
  });

  it("attempts are counted together", async () => {
    const counters = [redis, other].map((connection) =>
      createWindowCounter({ redis: connection, keyPrefix: `${prefix}rate`, windowSeconds: 60 }),
    );
    for (const key of ["a", "b", "c", "d"]) {
      const counts = await Promise.all(Array.from({ length: 10 }, (_, index) => counters[index % 2]!.count(key, 6)));
      expect(counts.filter(({ isWithin }) => isWithin)).toHaveLength(6);
      await counters[0]!.uncount(key, 6);
      expect(await counters[1]!.counted(key, 6)).toBe(9);
    }
  });

  it("a key of idempotency does its work once, and is answered again", async () => {
    const [one, two] = [redis, other].map((connection) => createIdempotency({ redis: connection, keyPrefix: prefix, logger }));
    const request = { key: randomUUID(), owner: "someone", scope: "POST /x", fingerprint: "f" };
    const work = () => Promise.resolve({ status: 201, headers: {}, text: '{"id":1}' });
    const first = await one!.once(request, work);
    expect(first).toMatchObject({ status: 201, text: '{"id":1}' });
    expect(await two!.once(request, () => Promise.reject(new Error("the work was done twice")))).toMatchObject({ text: '{"id":1}' });
  });

  it("a lease has one holder", async () => {
    const [one, two] = [redis, other].map((connection) => createLeases({ redis: connection, keyPrefix: prefix, logger }));
    const { promise, resolve } = deferred();
    const started = deferred();
    const holding = one!.hold("run", "f", async () => {
      started.resolve();
      await promise;
    });
    await started.promise;
    await expect(two!.hold("run", "f", () => Promise.resolve())).rejects.toMatchObject({ reason: "IDEMPOTENCY_IN_PROGRESS" });
    resolve();
    await holding;
    expect(await two!.hold("run", "f", () => Promise.resolve("work"))).toBe("work");
    expect(await one!.remember("run", "f")).toBeUndefined();
    expect(await two!.remember("run", "g")).toBe("f");
  });

  it("a cancellation reaches the process that starts the run", async () => {
    const [one, two] = [redis, other].map((connection) => createCancellations({ redis: connection, keyPrefix: prefix, logger }));
    await one!.note("run");
    expect([await two!.isNoted("run"), await two!.isNoted("other")]).toEqual([true, false]);
  });

  it("a session is known to every process until it ends", async () => {
    const options = { keyPrefix: prefix, secret: "s".repeat(32), secure: false, publicOrigin: "http://localhost" };
    const app = express();
    const [one, two] = [redis, other].map((connection) => createSessions({ redis: connection, ...options }));
    app.post("/in", (request, response) => void one!.signIn(request, response, { userId: "u", epoch: 1 }).then(() => response.end()));
    app.get("/", (request, response) => void two!.user(request, response).then((user) => response.json(user ?? null)));
    app.post("/out", (request, response) => void two!.signOut(request, response).then(() => response.end()));
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const signIn = async () => ({ cookie: (await fetch(`${base}/in`, { method: "POST" })).headers.getSetCookie()[0]!.split(";")[0]! });
    const headers = await signIn();
    expect(await (await fetch(base, { headers })).json()).toEqual({ userId: "u", epoch: 1 });
    await fetch(`${base}/out`, { method: "POST", headers });
    expect(await (await fetch(base, { headers })).json()).toBeNull();
    const nextHeaders = await signIn();
    expect(await createAccountKeys({ redis: other, keyPrefix: prefix }).removeSessions("u")).toBe(1);
    expect(await (await fetch(base, { headers: nextHeaders })).json()).toBeNull();
    server.close();
  });

  it("an erasure finds the keys of all servers", async () => {
    const { removeSessions, removeAnswers } = createAccountKeys({ redis, keyPrefix: prefix });
    const ids = Array.from({ length: 60 }, () => randomUUID());
    const owner = (index: number): string => (index % 3 === 0 ? "staying" : "leaving");
    for (const [index, id] of ids.entries()) {
      await redis.set(`${prefix}session:${id}`, JSON.stringify({ userId: owner(index) }), "EX", 600);
      await redis.hset(`${prefix}idempotency:${id}`, { owner: owner(index) });
    }
    expect([await removeSessions("leaving"), await removeAnswers("leaving")]).toEqual([40, 40]);
    expect(await keysOf(redis, `${prefix}session:*`)).toHaveLength(20);
    for (const key of await keysOf(redis, `${prefix}*`)) await redis.del(key);
  });

  it("events reach followers in other processes, also after the primary is lost, and commands work again", async () => {
    const subscriber = open(true);
    const listening = createEventChannel({ publisher: other, subscriber, prefix, logger });
    const speaking = createEventChannel({ publisher: redis, subscriber: open(true), prefix, logger });
    const types: string[] = [];
    listening.subscribe("run", ({ type }) => void types.push(type));
    listening.onTransition("run", ({ type }) => void types.push(type));
    const reaches = (type: string): Promise<boolean> =>
      eventually(
        () => {
          speaking.publish("run", { type, at: 1, data: {} });
          return types.includes(type);
        },
        Boolean,
        FAILOVER_MS,
      );
    await reaches("node.started");
    await reaches("started");
    if (name === "one server") return;

    const key = `${prefix}key`;
    await redis.set(key, "1");
    const warnings = jest.spyOn(logger, "warn");
    await group.killPrimary(key);
    const askedAt = performance.now();
    const failure = await redis.get(key).catch((error: Error) => error);
    // While no primary has the key, callers use their fallback without waiting.
    if (failure instanceof Error) expect(performance.now() - askedAt).toBeLessThan(2 * COMMAND_TIMEOUT_MS);
    const works = (connection: Redis): Promise<boolean> =>
      eventually(() => connection.set(key, "2").then(Boolean, () => false), Boolean, FAILOVER_MS);
    await Promise.all([redis, other].map(works));
    const away = name === "a cluster" ? "a node of the redis cluster is away" : "redis is away";
    expect(warnings.mock.calls.map(([, text]) => text)).toContain(away);
    await reaches("node.completed");
    await reaches("settled");
    // The subscriber of a cluster can be at any of its servers.
    if (name === "a cluster") {
      // It may be the one that took the lost primary's place. Without another one, keys would stay away.
      await group.restart();
      await group.kill((subscriber as unknown as Connection).options.port!);
      await reaches("node.failed");
      await Promise.all([redis, other].map(works));
    }
    // A scan fails rather than leave out the keys of a server that has no replacement yet.
    const keys = (): Promise<string[]> => keysOf(redis, `${prefix}key*`).catch(() => []);
    expect(await eventually(keys, ({ length }) => length > 0, FAILOVER_MS)).toEqual([key]);
  });

  it("commands fail at once while all servers are away", async () => {
    if (name === "one server") return;
    await group.stop();
    // The status says so only after a command: a cluster's client waits for a server that it never sent one to.
    const isRefused = (): Promise<boolean> =>
      redis.get("x").then(
        () => false,
        ({ message }: Error) => message !== "Command timed out",
      );
    await eventually(isRefused);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      await expect(redis.get("x")).rejects.not.toThrow("Command timed out");
    }
  });
});
