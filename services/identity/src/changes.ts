import { identityChangedChannel, parseIdentityChange, type IdentityChange, type Logger, type Redis } from "@nodeloom/platform";

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
