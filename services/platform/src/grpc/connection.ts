import { status, type ChannelOptions, type Client, type ServiceError } from "@grpc/grpc-js";

/** How long connections between services live, and how soon a lost connection is detected. */
export interface ConnectionTimes {
  /** A client resolves its target again after this time (±10%), so that it finds replicas that were added. */
  renewMs: number;
  /** Minimum time between two name lookups by one channel. */
  resolveEveryMs: number;
  /** Idle time after which a keepalive ping is sent. */
  keepaliveMs: number;
  /** Maximum wait for the reply to a ping. After that the connection is closed. */
  keepaliveTimeoutMs: number;
}

const DEFAULTS: ConnectionTimes = { renewMs: 60_000, resolveEveryMs: 1_000, keepaliveMs: 10_000, keepaliveTimeoutMs: 5_000 };
const JITTER = 0.1;

export const keepalive = (overrides: Partial<ConnectionTimes> = {}): ChannelOptions => {
  const { keepaliveMs, keepaliveTimeoutMs } = { ...DEFAULTS, ...overrides };
  return { "grpc.keepalive_time_ms": keepaliveMs, "grpc.keepalive_timeout_ms": keepaliveTimeoutMs };
};

interface Lease {
  client: Client;
  calls: number;
  isOld: boolean;
}

export interface Renewing {
  lease(): { client: Client; release(): void };
  close(): void;
}

/**
 * Replaces a client's channel at intervals. A channel resolves its target only when it loses a connection, so it would never call a replica
 * that was added later. Running calls keep their channel. Closing connections by age in the server isn't possible: Node's HTTP/2 drops
 * calls that arrive at that moment, and the caller can't know whether they were executed.
 */
export const renewing = (connect: (options: ChannelOptions) => Client, overrides: Partial<ConnectionTimes> = {}): Renewing => {
  const times = { ...DEFAULTS, ...overrides };
  const options: ChannelOptions = {
    ...keepalive(overrides),
    // A peer that disappears while no call runs must be detected before the next call.
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.dns_min_time_between_resolutions_ms": times.resolveEveryMs,
  };
  const open = (): Lease => ({ client: connect(options), calls: 0, isOld: false });
  const nextRenewal = (): number => Date.now() + times.renewMs * (1 - JITTER + 2 * JITTER * Math.random());
  let current = open();
  let renewAt = nextRenewal();

  const closeIfUnused = (lease: Lease): void => {
    if (lease.isOld && lease.calls === 0) lease.client.close();
  };
  const renew = (): void => {
    const old = current;
    current = open();
    renewAt = nextRenewal();
    old.isOld = true;
    closeIfUnused(old);
  };
  return {
    lease: () => {
      if (Date.now() >= renewAt) renew();
      const lease = current;
      lease.calls += 1;
      const release = (): void => {
        lease.calls -= 1;
        closeIfUnused(lease);
      };
      return { client: lease.client, release };
    },
    close: () => current.client.close(),
  };
};

/** grpc-js uses this message for a call that a stopping server didn't accept. */
const REFUSED = "Stream refused by server";

/** True if a call was certainly not started, so that even a call that isn't idempotent can be repeated. */
export const wasRefused = ({ code, details }: Pick<ServiceError, "code" | "details">): boolean =>
  code === status.UNAVAILABLE && details === REFUSED;
