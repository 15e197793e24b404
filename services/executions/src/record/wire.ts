import { connectRedis, redisReady, type Logger } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { createEventChannel } from "./runs/channel";
import { createStores } from "./stores";

export interface RecordConfig {
  REDIS_URL: string;
  REDIS_KEY_PREFIX: string;
  RETENTION_EXECUTIONS_DAYS: number;
}

/** Connects the stores and the channel of events. */
export const wireRecord = async (config: RecordConfig, connection: Connection, logger: Logger) => {
  const redis = connectRedis({ url: config.REDIS_URL, logger });
  const subscriber = connectRedis({ url: config.REDIS_URL, logger, subscriber: true });
  await redisReady(redis);
  return {
    redis,
    stores: createStores(connection, { retentionDays: config.RETENTION_EXECUTIONS_DAYS }),
    channel: createEventChannel({ publisher: redis, subscriber, prefix: config.REDIS_KEY_PREFIX, logger }),
    close: (): void => {
      redis.disconnect();
      subscriber.disconnect();
    },
  };
};
