import { randomUUID } from "node:crypto";
import { derivedId, type Logger, type Redis } from "@nodeloom/platform";

/** Shares the state of failing providers between processes. Without Redis, each process knows only its own calls. */

/** Pause between two reads of the shared state. */
const READ_EVERY_MS = 500;
/** A state that no process renews is removed after this time. */
const KEPT_MS = 24 * 3_600_000;
/** Longest time that a trial call keeps other processes from making one. */
const TRIAL_MS = 30_000;

/** State of a provider that fails. Times are durations, because clocks of machines differ. */
export interface SharedOutage {
  /** Consecutive failures. */
  failures: number;
  /** Time between the first and the last of these failures. */
  lastedMs: number;
  /** How often in a row the circuit has opened; 0 if it is closed. */
  openings: number;
}

/** Connects a provider's breaker with those of other processes. */
export interface OutagePeers {
  /** Tells other processes that the provider fails. */
  publish(outage: SharedOutage): void;
  /** Tells other processes that the provider responds. */
  clear(): void;
  /** Takes the right to make the trial call. @returns a function that gives it back; undefined if another process makes the call */
  beginTrial(): Promise<(() => void) | undefined>;
}

export interface SharedOutages {
  peersOf(provider: string): OutagePeers;
  /** @param listener gets the current state and changes by other processes; undefined if the provider responds again */
  follow(provider: string, listener: (outage: SharedOutage | undefined) => void): void;
  /** Stops following a provider that this process no longer calls. */
  forget(provider: string): void;
  stop(): void;
}

interface Entry {
  /** Changes with each write. */
  version: string;
  outage: SharedOutage;
}

const read = (json: string): Entry | undefined => {
  try {
    const entry = JSON.parse(json) as Partial<Entry> | null;
    return typeof entry?.version === "string" && entry.outage ? (entry as Entry) : undefined;
  } catch {
    return undefined;
  }
};

export const createSharedOutages = ({ redis, keyPrefix, logger }: { redis: Redis; keyPrefix: string; logger: Logger }): SharedOutages => {
  const process = randomUUID();
  const key = `${keyPrefix}provider-outages`;
  const fieldOf = (provider: string): string => derivedId("provider", provider);
  const followed = new Map<string, { listener: (outage: SharedOutage | undefined) => void; version: string | undefined }>();
  let entries = new Map<string, Entry>();
  let writes = 0;
  const quietly = (work: Promise<unknown>): void => {
    work.catch((error: Error) => logger.debug({ reason: error.message }, "the state of a provider isn't shared"));
  };

  const tell = (field: string): void => {
    const follower = followed.get(field);
    const entry = entries.get(field);
    if (!follower || follower.version === entry?.version) return;
    follower.version = entry?.version;
    // The listener knows the state that its own process has written.
    if (entry?.version.startsWith(process)) return;
    follower.listener(entry?.outage);
  };

  let isReading = false;
  const readAll = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      const fields = Object.entries(await redis.hgetall(key)).map(([field, json]) => [field, read(json)] as const);
      entries = new Map(fields.flatMap(([field, entry]) => (entry ? [[field, entry]] : [])));
      for (const field of followed.keys()) tell(field);
    } catch {
      // Nothing is known about other processes.
    } finally {
      isReading = false;
    }
  };
  const reads = setInterval(() => void readAll(), READ_EVERY_MS).unref();

  const peersOf = (provider: string): OutagePeers => {
    const field = fieldOf(provider);
    const trialKey = `${key}:${field}`;
    return {
      publish: (outage) => {
        writes += 1;
        const entry: Entry = { version: `${process}.${writes}`, outage };
        quietly(redis.multi().hset(key, field, JSON.stringify(entry)).pexpire(key, KEPT_MS).exec());
      },
      clear: () => quietly(redis.hdel(key, field)),
      beginTrial: async () => {
        try {
          if ((await redis.set(trialKey, process, "PX", TRIAL_MS, "NX")) === null) return undefined;
        } catch {
          return () => undefined;
        }
        // The others read the result of the trial first.
        return () => quietly(redis.pexpire(trialKey, 2 * READ_EVERY_MS));
      },
    };
  };

  return {
    peersOf,
    follow: (provider, listener) => {
      followed.set(fieldOf(provider), { listener, version: undefined });
      tell(fieldOf(provider));
    },
    forget: (provider) => void followed.delete(fieldOf(provider)),
    stop: () => clearInterval(reads),
  };
};
