import { EventEmitter } from "node:events";
import type { Logger, Redis } from "@nodeloom/platform";
import type { ExecutionView } from "../execution-record";

/** What travels over an execution's channel. */
export interface ChannelEvent {
  type: string;
  /** Milliseconds since the epoch. */
  at: number;
  data: Record<string, unknown>;
}

export type Unsubscribe = () => void;
/** `record` is the execution as it is now, where the news come from this process. */
export type Listener = (event: ChannelEvent, record?: ExecutionView) => void;

export type EventChannel = ReturnType<typeof createEventChannel>;

interface ChannelOptions {
  publisher: Redis;
  subscriber: Redis;
  prefix: string;
  logger: Logger;
}

/** A message of another replica; undefined for anything else that is said on the channel. */
const read = (message: string): { from: string; event: ChannelEvent } | undefined => {
  try {
    const sent = JSON.parse(message) as { from?: unknown; event?: Partial<ChannelEvent> } | null;
    return typeof sent?.from === "string" && typeof sent.event?.type === "string"
      ? { from: sent.from, event: sent.event as ChannelEvent }
      : undefined;
  } catch {
    return undefined;
  }
};

/**
 * One channel per execution: events reach listeners of this process directly, and those of other replicas over Redis.
 * A lost message costs latency only: listeners read the store, too, when the channel stays silent.
 */
export const createEventChannel = ({ publisher, subscriber, prefix, logger }: ChannelOptions) => {
  const local = new EventEmitter();
  local.setMaxListeners(0);
  const origin = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  const channelOf = (executionId: string): string => `${prefix}executions:${executionId}`;

  const quietly = (work: Promise<unknown>): void => {
    work.catch((error: Error) => logger.debug({ reason: error.message }, "event channel is not reachable"));
  };

  /** Channels whose messages the server has not been heard to end yet. */
  const leaving = new Set<string>();
  const leave = (channel: string): void => {
    leaving.add(channel);
    quietly(subscriber.unsubscribe(channel).finally(() => leaving.delete(channel)));
  };

  subscriber.on("message", (channel: string, message: string) => {
    const executionId = channel.slice(channelOf("").length);
    // On its way when the last listener left, or left over from a connection that was lost meanwhile.
    if (local.listenerCount(executionId) === 0) return leaving.has(channel) ? undefined : leave(channel);
    const sent = read(message);
    if (sent && sent.from !== origin) local.emit(executionId, sent.event);
  });
  // While Redis is away nothing is queued; who listens by then is subscribed at once.
  subscriber.on("ready", () => {
    const channels = local.eventNames().map((executionId) => channelOf(String(executionId)));
    if (channels.length > 0) quietly(subscriber.subscribe(...channels));
  });
  const isReady = (): boolean => subscriber.status === "ready";

  return {
    /** Tells everyone who listens to an execution, in this process first. Never fails, never waits. */
    publish: (executionId: string, event: ChannelEvent, record?: ExecutionView): void => {
      local.emit(executionId, event, record);
      quietly(publisher.publish(channelOf(executionId), JSON.stringify({ from: origin, event })));
    },
    /** Hears of an execution until the returned function is called. */
    subscribe: (executionId: string, listener: Listener): Unsubscribe => {
      if (local.listenerCount(executionId) === 0 && isReady()) quietly(subscriber.subscribe(channelOf(executionId)));
      local.on(executionId, listener);
      return () => {
        local.off(executionId, listener);
        if (local.listenerCount(executionId) === 0 && isReady()) leave(channelOf(executionId));
      };
    },
  };
};
