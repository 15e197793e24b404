import type { Redis } from "ioredis";
import type { Logger } from "../telemetry/logger";

export type { Redis };

export const COMMAND_TIMEOUT_MS = 1_000;
const COMMAND_TIMEOUT_STEPS = 5;
const MAX_RECONNECT_DELAY_MS = 1_000;

export interface RedisOptions {
  url: string;
  logger: Logger;
  /** True for a subscriber, which waits for the server. Other connections fail fast, so that callers can use a fallback. */
  subscriber?: boolean;
}

type Command = Parameters<Redis["sendCommand"]>[0];

/**
 * Fails commands without a response. Time is counted in steps of the event loop, so a pause of this process doesn't count against the
 * server.
 */
const limitCommands = (redis: Redis): void => {
  const send = redis.sendCommand.bind(redis);
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
  redis.sendCommand = (command, stream) => {
    limit(command);
    return send(command, stream);
  };
};

/** A connection to Redis that always reconnects. While Redis is unavailable, commands fail immediately. */
export const connectRedis = ({ url, logger, subscriber = false }: RedisOptions): Redis => {
  const { Redis: Connection } = require("ioredis") as typeof import("ioredis");
  const redis = new Connection(url, {
    enableOfflineQueue: subscriber,
    maxRetriesPerRequest: subscriber ? null : 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_DELAY_MS),
  });
  if (!subscriber) limitCommands(redis);
  let isDown = false;
  redis.on("error", (error: Error) => {
    if (!isDown) logger.warn({ reason: error.message }, "redis is away");
    isDown = true;
  });
  redis.on("ready", () => {
    if (isDown) logger.info("redis is back");
    isDown = false;
  });
  return redis;
};

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
