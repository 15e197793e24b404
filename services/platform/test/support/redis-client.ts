import type { Cluster, Redis as Connection } from "ioredis";
import type { TLSSocket } from "node:tls";
import { connectRedis, createLogger, redisReady } from "../../src";
import { eventually } from "../../../../test-support/eventually";

/** A client in a process of its own, whose authorities come from NODE_EXTRA_CA_CERTS. Arguments: the address, and how long to wait for it. */
const [url = "", patienceMs = ""] = process.argv.slice(2);
const FAILOVER_MS = 60_000;
const logger = createLogger("test", "silent");
const redis = connectRedis({ url, logger });
const subscriber = connectRedis({ url, logger, subscriber: true });

const isEncrypted = (): boolean => {
  const all = [...(redis.isCluster ? (redis as unknown as Cluster).nodes("all") : [redis as unknown as Connection]), subscriber];
  const open = all.filter(({ status }) => status === "ready") as unknown as { stream: TLSSocket }[];
  return open.every(({ stream }) => stream.encrypted);
};
const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
const write = (): Promise<boolean> =>
  Promise.all(keys.map((key) => redis.set(key, key))).then(
    () => true,
    () => false,
  );

const work = async (): Promise<object> => {
  const heard: string[] = [];
  subscriber.on("message", (_channel: string, text: string) => void heard.push(text));
  await subscriber.subscribe("channel");
  const isHeard = async (): Promise<boolean> => {
    await redis.publish("channel", "a message").catch(() => undefined);
    return heard.includes("a message");
  };
  await eventually(isHeard, Boolean, FAILOVER_MS);
  await eventually(write, Boolean, FAILOVER_MS);
  return { read: (await Promise.all(keys.map((key) => redis.get(key)))).filter(Boolean).length, isEncrypted: isEncrypted() };
};

const run = async (): Promise<void> => {
  const isReady = await redisReady(redis, Number(patienceMs));
  process.send!({ isReady });
  if (isReady) {
    process.send!(await work());
    process.on(
      "message",
      () =>
        void eventually(write, Boolean, FAILOVER_MS)
          .then(work)
          .then((result) => process.send!(result)),
    );
    return;
  }
  process.exit();
};
void run();
