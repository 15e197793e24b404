import { randomUUID } from "node:crypto";
import { createSlots, NoSlot, type Slots, type SlotsOptions, type WaitOptions } from "../work/slots";
import { withTimeout } from "../work/timeout";
import type { Redis } from "./redis";

/** Slots that all processes share: each piece of work has a lease in Redis. */

const LEASE_MS = 15_000;
/** Leases are renewed this often within their duration. */
const BEATS_PER_LEASE = 3;
/** Pause before a process asks for a slot again. */
const ASK_AGAIN_MS = 50;
/** A process that doesn't ask for this time loses its place in the line. */
const LINE_MS = 1_000;
const NONE: ReadonlySet<string> = new Set();

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Grants a lease if the number of free slots reaches the process's place in the line, so that no process starves.
 * KEYS: leases, line by arrival, line by last request. ARGV: process, lease, slots, duration of a lease, duration of a place.
 */
const TAKE = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now - ARGV[5])) do
  redis.call('ZREM', KEYS[2], gone)
  redis.call('ZREM', KEYS[3], gone)
end
redis.call('ZADD', KEYS[2], 'NX', now, ARGV[1])
redis.call('ZADD', KEYS[3], now, ARGV[1])
local granted = redis.call('ZRANK', KEYS[2], ARGV[1]) < ARGV[3] - redis.call('ZCARD', KEYS[1])
if granted then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('ZADD', KEYS[1], now + ARGV[4], ARGV[2])
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 2 * ARGV[4]) end
return granted and 1 or 0`;

/** Extends leases. Restores leases that Redis has lost or that ended, because their work still runs. */
const RENEW = `${NOW}
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], 2 * ARGV[1])`;

/** Notes that a process lives, and returns the number of such processes. */
const BEAT = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])`;

export interface ClusterSlotsOptions {
  redis: Redis;
  keyPrefix: string;
  /** Number of processes to assume until Redis says how many there are. */
  processes?: number;
  /** Time after which the leases of a dead process end. */
  leaseMs?: number;
}

export interface ClusterSlots {
  /**
   * Slots of one resource. While Redis is unavailable, this process uses its share: the slots divided by the number of processes, at least
   * one. Work can't weigh more than one slot.
   * @param name the same name is the same resource in all processes. It has no braces: in a Redis cluster, the keys of a resource are together.
   */
  of(name: string, options: SlotsOptions): Slots;
  /** True while slots count in all processes together. */
  isShared(): boolean;
  /** Number of processes that share the slots, as last seen. */
  processes(): number;
  /** Number of resources of which this process has slots. */
  resources(): number;
  stop(): Promise<void>;
}

/**
 * Each lease has its own name, so that a late release or renewal never affects the lease of other work. A grant that arrives after its own
 * duration isn't used. A process that was suspended for longer than a lease restores its leases: until its work ends, other processes get
 * no slot beyond the limit.
 */
export const createClusterSlots = ({ redis, keyPrefix, processes: assumed = 1, leaseMs = LEASE_MS }: ClusterSlotsOptions): ClusterSlots => {
  const process = randomUUID();
  const beatMs = leaseMs / BEATS_PER_LEASE;
  const leasesByKey = new Map<string, Set<string>>();
  let processes = Math.max(1, assumed);
  let aloneUntil = 0;
  let hasBeenAway = redis.status !== "ready";
  let leaseCount = 0;

  const isShared = (): boolean => redis.status === "ready" && performance.now() >= aloneUntil;
  /** After an outage, leases count again when every process has had the time to restore its own. */
  const stayAlone = (): void => void (aloneUntil = performance.now() + 2 * beatMs);

  const beat = async (): Promise<void> => {
    try {
      await Promise.all([...leasesByKey].map(([key, leases]) => redis.eval(RENEW, 1, key, leaseMs, ...leases)));
      const count = Number(await redis.eval(BEAT, 1, `${keyPrefix}slot-processes`, process, leaseMs));
      // Right after an outage, some processes haven't returned.
      processes = isShared() ? count : Math.max(processes, count);
    } catch {
      stayAlone();
    }
  };
  const onClose = (): void => void (hasBeenAway = true);
  const onReady = (): void => {
    if (hasBeenAway) stayAlone();
    hasBeenAway = false;
    void beat();
  };
  redis.on("close", onClose);
  redis.on("ready", onReady);
  const beats = setInterval(() => void beat(), beatMs).unref();
  if (!hasBeenAway) void beat();

  const of = (name: string, { concurrency, queueLimit }: SlotsOptions): Slots => {
    const key = `${keyPrefix}slots:{${name}}`;
    const line = [`${key}:line`, `${key}:asked`];
    /** One request to Redis at a time. Keys take turns to make it. */
    const turns = createSlots({ concurrency: 1, queueLimit });
    let wake: () => void = () => undefined;

    const quietly = (work: Promise<unknown>): void => void work.catch(() => undefined);
    const leases = (): ReadonlySet<string> => leasesByKey.get(key) ?? NONE;
    const add = (lease: string): void => {
      const own = leasesByKey.get(key);
      if (own) own.add(lease);
      else leasesByKey.set(key, new Set([lease]));
    };
    const leave = (lease: string): void => {
      const own = leasesByKey.get(key);
      if (!own?.delete(lease)) return;
      // Names of resources are unlimited, so only those with leases are kept.
      if (own.size === 0) leasesByKey.delete(key);
      wake();
      quietly(redis.zrem(key, lease));
    };

    /** @returns true if the lease was granted */
    const take = async (lease: string): Promise<boolean> => {
      if (isShared()) {
        const askedAt = performance.now();
        try {
          const isGranted = (await redis.eval(TAKE, 3, key, ...line, process, lease, concurrency, leaseMs, LINE_MS)) === 1;
          if (isGranted) add(lease);
          if (isGranted && performance.now() - askedAt >= leaseMs) leave(lease);
          return leases().has(lease);
        } catch {
          // The grant may have been lost. It ends after its duration.
          stayAlone();
        }
      }
      if (leases().size >= Math.max(1, Math.floor(concurrency / processes))) return false;
      add(lease);
      // Another process can have Redis already, or still.
      quietly(redis.eval(RENEW, 1, key, leaseMs, lease));
      return true;
    };

    const giveUp = (): void => {
      quietly(redis.zrem(line[0]!, process));
      quietly(redis.zrem(line[1]!, process));
    };

    const waitForLease = async (lease: string, until: number, signal: AbortSignal | undefined): Promise<void> => {
      try {
        while (!(await take(lease))) {
          if (performance.now() >= until) throw new NoSlot("none came free in time");
          await withTimeout(new Promise<void>((resolve) => (wake = resolve)), ASK_AGAIN_MS, () => undefined);
          signal?.throwIfAborted();
        }
      } catch (error) {
        giveUp();
        throw error;
      }
    };

    const enter = async ({ key: user, signal, maxWaitMs }: WaitOptions): Promise<() => void> => {
      const until = performance.now() + maxWaitMs;
      leaseCount += 1;
      const lease = `${process}.${leaseCount}`;
      await turns.use(() => waitForLease(lease, until, signal), { ...(user === undefined ? {} : { key: user }), signal, maxWaitMs });
      return () => leave(lease);
    };

    return {
      enter,
      load: () => ({ inUse: leases().size, waiting: turns.load().inUse + turns.load().waiting }),
      use: async (work, options) => {
        const release = await enter(options);
        try {
          return await work();
        } finally {
          release();
        }
      },
    };
  };

  return {
    of,
    isShared,
    processes: () => processes,
    resources: () => leasesByKey.size,
    stop: async () => {
      clearInterval(beats);
      redis.off("close", onClose);
      redis.off("ready", onReady);
      await redis.zrem(`${keyPrefix}slot-processes`, process).catch(() => undefined);
    },
  };
};
