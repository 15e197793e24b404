import type { Logger, Redis } from "@nodeloom/platform";

/**
 * What became stale for those who cache identity: one key (renamed, revoked, rotated, its webhook changed), one user
 * (tier, role, approval) or one custom tier. Published as JSON on the channel below after the change is stored.
 * A message may be lost (Redis away, publisher killed): it makes a change visible at once, and the short lifetime of
 * every cached entry makes it visible in any case.
 */
export interface IdentityChange {
  type: "key" | "user" | "tier";
  /** The key's, user's or tier's id. */
  id: string;
}

/** The Redis channel of identity changes; the prefix is REDIS_KEY_PREFIX. */
export const identityChangedChannel = (prefix: string): string => `${prefix}identity:changed`;

/** Reads a message of the channel; undefined when it is none of ours. */
export const parseIdentityChange = (message: string): IdentityChange | undefined => {
  try {
    const { type, id } = JSON.parse(message) as Partial<Record<keyof IdentityChange, unknown>>;
    return (type === "key" || type === "user" || type === "tier") && typeof id === "string" ? { type, id } : undefined;
  } catch {
    return undefined;
  }
};

export interface Changes {
  /** Tells this process and all others. Never fails: a lost message costs freshness for a moment only. */
  announce(change: IdentityChange): Promise<void>;
  /** Calls a listener for every change, wherever it was made. */
  onChange(listener: (change: IdentityChange) => void): void;
}

export interface ChangesOptions {
  publisher: Redis;
  /** A connection of its own: a subscribed one can't publish. */
  subscriber: Redis;
  prefix: string;
  logger: Logger;
}

/** Joins the channel. Works without Redis too: changes then stay within the process. */
export const joinChanges = ({ publisher, subscriber, prefix, logger }: ChangesOptions): Changes => {
  const channel = identityChangedChannel(prefix);
  const listeners: ((change: IdentityChange) => void)[] = [];
  const tell = (change: IdentityChange): void => listeners.forEach((listener) => listener(change));
  subscriber.on("message", (_channel, message) => {
    const change = parseIdentityChange(message);
    if (change) tell(change);
  });
  subscriber.subscribe(channel).catch((error: Error) => logger.debug({ reason: error.message }, "not subscribed to identity changes"));
  return {
    announce: async (change) => {
      tell(change);
      await publisher
        .publish(channel, JSON.stringify(change))
        .catch((error: Error) => logger.debug({ reason: error.message }, "identity change was not published"));
    },
    onChange: (listener) => void listeners.push(listener),
  };
};
