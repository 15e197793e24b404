import type { EventEmitter } from "node:events";
import type { Cluster, Redis as Connection, RedisOptions as ConnectionOptions } from "ioredis";
import type { Logger } from "../telemetry/logger";
import { withTimeout } from "../work/timeout";
import { parseRedisAddress, type RedisAddress } from "../redis-address";

/** Members that a connection to a server and one to a cluster don't have in common. */
type Differing = keyof EventEmitter | "options" | "status" | "connect" | "duplicate" | "sendCommand" | "handleError";

/**
 * A connection to one server, to the primary that Sentinels name, or to a cluster. A command has one key: a cluster rejects commands,
 * scripts and transactions with several, unless their names have the same part in braces.
 */
export type Redis = Pick<Connection, Exclude<keyof Connection & keyof Cluster, Differing>> & EventEmitter & { readonly status: string };

export const COMMAND_TIMEOUT_MS = 1_000;
const COMMAND_TIMEOUT_STEPS = 5;
const MAX_RECONNECT_DELAY_MS = 1_000;
/** Pause between two reads of which node of a cluster holds which keys. */
const CLUSTER_REFRESH_MS = 5_000;
/** Pause between two warnings about nodes of a cluster. Errors of one that is down come with each command for it. */
const NODE_WARNING_MS = 60_000;

export interface RedisOptions {
  /** Address that parseRedisAddress reads. */
  url: string;
  logger: Logger;
  /** True for a subscriber, which waits for the server. Other connections fail fast, so that callers can use a fallback. */
  subscriber?: boolean;
}

type Command = Parameters<Connection["sendCommand"]>[0];

/**
 * Fails commands without a response, and those for a cluster that isn't there. Time is counted in steps of the event loop, so a pause of
 * this process doesn't count against the server.
 */
const limitCommands = (redis: Connection | Cluster): void => {
  const send = redis.sendCommand.bind(redis) as (command: Command, ...rest: unknown[]) => unknown;
  const limit = (command: Command): void => {
    let remainingSteps = COMMAND_TIMEOUT_STEPS;
    const step = (): NodeJS.Timeout =>
      setTimeout(() => {
        remainingSteps -= 1;
        if (remainingSteps > 0) timer = step();
        else command.reject(new Error("Command timed out"));
      }, COMMAND_TIMEOUT_MS / COMMAND_TIMEOUT_STEPS);
    let timer = step();
    const clear = (): void => clearTimeout(timer);
    command.promise.then(clear, clear);
  };
  redis.sendCommand = (command: Command, ...rest: unknown[]) => {
    // The client asks for the cluster's nodes before it is ready.
    if (redis.isCluster && redis.status !== "ready" && command.name !== "cluster") {
      command.reject(new Error("Redis cluster isn't available"));
      return command.promise;
    }
    limit(command);
    return send(command, ...rest);
  };
};

const retryStrategy = (attempt: number): number => Math.min(attempt * 50, MAX_RECONNECT_DELAY_MS);

/** A connection to the primary that Sentinels name. When they name another one, it reconnects. */
const sentinelOptions = ({
  tls,
  nodes,
  primary,
  sentinel,
  username,
  password,
}: RedisAddress & { kind: "sentinel" }): ConnectionOptions => ({
  sentinels: nodes,
  name: primary,
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
  ...(sentinel.username === undefined ? {} : { sentinelUsername: sentinel.username }),
  ...(sentinel.password === undefined ? {} : { sentinelPassword: sentinel.password }),
  ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  sentinelRetryStrategy: retryStrategy,
  sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
  // A primary whose machine is gone closes no connection.
  failoverDetector: true,
  reconnectOnError: ({ message }) => message.startsWith("READONLY"),
});

/**
 * Connects again after the client gave up. It does that if a failover is announced while it asks the Sentinels for the primary: it takes
 * the end of its own question for a connection that was closed on purpose.
 */
const keepConnecting = (redis: Connection): Connection => {
  let isClosed = false;
  const disconnect = redis.disconnect.bind(redis);
  redis.disconnect = (reconnect = false) => {
    isClosed = !reconnect;
    disconnect(reconnect);
  };
  redis.on("end", () => {
    if (!isClosed) redis.connect().catch(() => undefined);
  });
  return redis;
};

const connectCluster = ({ tls, nodes, username, password }: RedisAddress & { kind: "cluster" }): Cluster => {
  const { Cluster } = require("ioredis") as typeof import("ioredis");
  return new Cluster(nodes, {
    clusterRetryStrategy: retryStrategy,
    slotsRefreshInterval: CLUSTER_REFRESH_MS,
    // Certificates have the names of hosts.
    dnsLookup: (host, callback) => callback(null, host),
    // A command that was lost with its connection may have been carried out. It fails, as with one server.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    redisOptions: {
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(tls ? { tls: {} } : {}),
      maxRetriesPerRequest: 0,
    },
  });
};

/** A connection to any node, which hears what is published at every node. After a loss, the next node takes its place. */
const subscribeToCluster = (
  { tls, nodes, username, password }: RedisAddress & { kind: "cluster" },
  options: ConnectionOptions,
): Connection => {
  const { Redis: Server } = require("ioredis") as typeof import("ioredis");
  const first = Math.floor(Math.random() * nodes.length);
  const node = (attempt: number) => nodes[(first + attempt) % nodes.length]!;
  let attempts = 0;
  const connection = new Server({
    ...options,
    ...node(0),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    retryStrategy: (attempt) => {
      attempts += 1;
      Object.assign(connection.options, node(attempts));
      return retryStrategy(attempt);
    },
  });
  return connection;
};

const connect = (url: string, subscriber: boolean): Connection | Cluster => {
  const { Redis: Server } = require("ioredis") as typeof import("ioredis");
  const options: ConnectionOptions = { enableOfflineQueue: subscriber, maxRetriesPerRequest: subscriber ? null : 0, retryStrategy };
  const address = parseRedisAddress(url);
  if (address.kind === "sentinel") return keepConnecting(new Server({ ...options, ...sentinelOptions(address) }));
  if (address.kind === "cluster") return subscriber ? subscribeToCluster(address, options) : connectCluster(address);
  return new Server(url, options);
};

/** A connection to Redis that always reconnects. While Redis is unavailable, commands fail immediately. */
export const connectRedis = ({ url, logger, subscriber = false }: RedisOptions): Redis => {
  const redis = connect(url, subscriber);
  if (!subscriber) limitCommands(redis);
  let isDown = false;
  let reason = "";
  // These say why, before the error says that nothing is left to try.
  redis.on("sentinelError", (error: Error) => void (reason = error.message));
  let nodeWarnedAt = Number.NEGATIVE_INFINITY;
  redis.on("node error", (error: Error, address: string) => {
    reason = error.message;
    if (performance.now() - nodeWarnedAt < NODE_WARNING_MS) return;
    nodeWarnedAt = performance.now();
    logger.warn({ reason, address }, "a node of the redis cluster is away");
  });
  redis.on("error", (error: Error) => {
    if (!isDown) logger.warn({ reason: reason || error.message }, "redis is away");
    isDown = true;
  });
  redis.on("ready", () => {
    if (isDown) logger.info("redis is back");
    isDown = false;
    reason = "";
  });
  return redis;
};

/** Connections to all servers that hold keys: the primaries of a cluster. */
const primaries = async (redis: Redis): Promise<Connection[]> => {
  if (!redis.isCluster) return [redis as Connection];
  const cluster = redis as Cluster;
  const shards = await cluster.cluster("SLOTS");
  const names = new Set(shards.map(([, , primary]) => `${primary?.[0]}:${primary?.[1]}`));
  const nodes = cluster.nodes("master").filter(({ options }) => names.has(`${options.host}:${options.port}`));
  // Without one, keys would be missing silently.
  if (nodes.length < names.size) throw new Error("a primary of the Redis cluster isn't connected");
  return nodes;
};

/** Pages of all keys that match a pattern, on all servers. A key can occur twice. */
export async function* scanKeys(redis: Redis, pattern: string, pageSize: number): AsyncGenerator<string[]> {
  const late = (): never => {
    throw new Error("Command timed out");
  };
  for (const server of await primaries(redis)) {
    let cursor = "0";
    do {
      const [next, keys] = await withTimeout(server.scan(cursor, "MATCH", pattern, "COUNT", pageSize), COMMAND_TIMEOUT_MS, late);
      if (keys.length > 0) yield keys;
      cursor = next;
    } while (cursor !== "0");
  }
}

/** Returns whether the connection is usable before the deadline. Without Redis, callers work independently. */
export const redisReady = (redis: Redis, deadlineMs = 3_000): Promise<boolean> => {
  if (redis.status === "ready") return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => finish(false), deadlineMs);
    const finish = (ready: boolean): void => {
      clearTimeout(timer);
      redis.off("ready", onReady);
      resolve(ready);
    };
    const onReady = (): void => finish(true);
    redis.once("ready", onReady);
  });
};
