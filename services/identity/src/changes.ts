import { identityChangedChannel, parseIdentityChange, type IdentityChange, type Logger, type Redis } from "@nodeloom/platform";

export interface Changes {
  /** Notifies this process and all others. Never fails, because a lost message only delays the effect briefly. */
  announce(change: IdentityChange): Promise<void>;
  /** Registers a listener for changes in any process. */
  onChange(listener: (change: IdentityChange) => void): void;
}

export interface ChangesOptions {
  publisher: Redis;
  /** A separate connection, because a subscribed connection can't publish. */
  subscriber: Redis;
  prefix: string;
  logger: Logger;
}

/** Subscribes to the channel. Without Redis, changes reach only this process. */
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
