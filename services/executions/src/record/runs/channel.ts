/** Publishes events of runs to listeners in all processes, and follows runs by them. */
import { EventEmitter } from "node:events";
import { type Logger, type Redis, withTimeout } from "@nodeloom/platform";
import type { ExecutionView } from "../../run/record";
import { TRANSITION_EVENTS, isUndelivered } from "../../run/states";
import { TIMING } from "../../run/timing";
import type { Stores } from "../stores";

export interface ChannelEvent {
  type: string;
  /** Milliseconds since the epoch. */
  at: number;
  data: Record<string, unknown>;
}

export type Unsubscribe = () => void;
/** @param row the row that the change was written to; undefined for events of other processes, and for events without a row */
export type Listener = (event: ChannelEvent, row?: ExecutionView) => void;

export type EventChannel = ReturnType<typeof createEventChannel>;

interface ChannelOptions {
  publisher: Redis;
  subscriber: Redis;
  prefix: string;
  logger: Logger;
}

/** Parses a message of another replica. Returns undefined for other messages on the channel. */
const read = (message: string): { from: string; event: ChannelEvent } | undefined => {
  try {
    const parsed = JSON.parse(message) as { from?: unknown; event?: Partial<ChannelEvent> } | null;
    return typeof parsed?.from === "string" && typeof parsed.event?.type === "string"
      ? { from: parsed.from, event: parsed.event as ChannelEvent }
      : undefined;
  } catch {
    return undefined;
  }
};

/** Pause before a refused subscription is requested again. */
const SUBSCRIBE_AGAIN_MS = 1_000;

/**
 * Listeners of this process receive events directly; other replicas receive them over Redis. All replicas receive the transitions of all
 * executions; most executions have three. Only replicas that follow an execution receive its other events. A lost message only adds
 * latency, because listeners also read the store when the channel is silent.
 */
export const createEventChannel = ({ publisher, subscriber, prefix, logger }: ChannelOptions) => {
  const everything = new EventEmitter().setMaxListeners(0);
  const transitions = new EventEmitter().setMaxListeners(0);
  const origin = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  const channelOf = (executionId: string): string => `${prefix}executions:${executionId}`;
  const shared = channelOf("transitions");

  const quietly = (work: Promise<unknown>): void => {
    work.catch((error: Error) => logger.debug({ reason: error.message }, "event channel is not reachable"));
  };

  const emit = (executionId: string, event: ChannelEvent, row?: ExecutionView): void => {
    everything.emit(executionId, event, row);
    if (TRANSITION_EVENTS.has(event.type)) transitions.emit(executionId, event, row);
  };
  const isHeard = (executionId: string): boolean => everything.listenerCount(executionId) > 0 || transitions.listenerCount(executionId) > 0;
  const hear = (executionId: string, message: string): void => {
    const received = read(message);
    if (received && received.from !== origin) emit(executionId, received.event);
  };

  /** Channels whose unsubscription Redis hasn't confirmed. */
  const leaving = new Set<string>();
  const leave = (channel: string): void => {
    leaving.add(channel);
    quietly(subscriber.unsubscribe(channel).finally(() => leaving.delete(channel)));
  };

  subscriber.on("message", (channel: string, message: string) => {
    if (channel === shared) {
      const end = message.indexOf(" ");
      const executionId = message.slice(0, end);
      return isHeard(executionId) ? hear(executionId, message.slice(end + 1)) : undefined;
    }
    const executionId = channel.slice(channelOf("").length);
    // The message was in flight when the last listener unsubscribed, or the subscription outlived a lost connection.
    if (everything.listenerCount(executionId) === 0) return leaving.has(channel) ? undefined : leave(channel);
    hear(executionId, message);
  });
  const isReady = (): boolean => subscriber.status === "ready";
  // While Redis is unavailable, nothing is queued. When it is available again, all current subscriptions are made again.
  const subscribeAll = (): void => {
    if (!isReady()) return;
    subscriber.subscribe(shared, ...everything.eventNames().map((executionId) => channelOf(String(executionId)))).catch((error: Error) => {
      logger.warn({ reason: error.message }, "transitions of runs of other processes are not heard, trying again");
      setTimeout(subscribeAll, SUBSCRIBE_AGAIN_MS).unref();
    });
  };
  subscriber.on("ready", subscribeAll);
  subscribeAll();

  return {
    /** Sends to local listeners first. Never fails and never waits. @param row only for local listeners, which needn't read it then */
    publish: (executionId: string, event: ChannelEvent, row?: ExecutionView): void => {
      emit(executionId, event, row);
      const message = JSON.stringify({ from: origin, event });
      const isTransition = TRANSITION_EVENTS.has(event.type);
      quietly(isTransition ? publisher.publish(shared, `${executionId} ${message}`) : publisher.publish(channelOf(executionId), message));
    },
    onTransition: (executionId: string, listener: Listener): Unsubscribe => {
      transitions.on(executionId, listener);
      return () => void transitions.off(executionId, listener);
    },
    subscribe: (executionId: string, listener: Listener): Unsubscribe => {
      if (everything.listenerCount(executionId) === 0 && isReady()) quietly(subscriber.subscribe(channelOf(executionId)));
      everything.on(executionId, listener);
      return () => {
        everything.off(executionId, listener);
        if (everything.listenerCount(executionId) === 0 && isReady()) leave(channelOf(executionId));
      };
    },
  };
};

export interface Following {
  listen(): void;
  /** Returns the row after the next announced transition, after a period of silence, or at `until`. */
  next(until: number): Promise<ExecutionView | null>;
  stop(): void;
}

export type Follow = (executionId: string) => Following;

/**
 * Follows runs through their channels. A message only announces a new state, so a lost message only adds latency. The row is read, unless
 * this process has written every change since the last read.
 */
export const createFollow =
  ({ stores, channel }: { stores: Pick<Stores, "rows">; channel: Pick<EventChannel, "onTransition"> }): Follow =>
  (executionId) => {
    let heard: { row: ExecutionView | undefined } | undefined;
    /** The end of a run is announced only after its outbox was delivered. */
    let isSettled = false;
    let wake: () => void = () => undefined;
    let unsubscribe: (() => void) | undefined;
    const listen = (): void => {
      unsubscribe ??= channel.onTransition(executionId, ({ type }, row) => {
        const mustRead = heard !== undefined && heard.row === undefined;
        heard = { row: mustRead ? undefined : row };
        isSettled ||= type === "settled";
        wake();
      });
    };
    return {
      listen,
      next: async (until) => {
        listen();
        const waitMs = Math.min(TIMING.channelSilence, until - Date.now());
        if (!heard && waitMs > 0) await withTimeout(new Promise<void>((resolve) => (wake = resolve)), waitMs, () => undefined);
        const heardRow = heard?.row;
        heard = undefined;
        const row = heardRow ?? (await stores.rows.find(executionId));
        return row && isSettled ? { ...row, outbox: [] } : row;
      },
      stop: () => {
        unsubscribe?.();
        wake();
      },
    };
  };

export type EndedRow = Pick<ExecutionView, "_id" | "status" | "outbox" | "finishedAt">;

/** Waits at most one second until an ended run has its usage row and its place is free. Waits only for runs that ended recently. */
export type AwaitDelivered = (row: EndedRow) => Promise<void>;

/** If a run ended longer ago, a service is unavailable and the relay delivers the outbox. */
const YOUNG_MS = 5_000;

const isAwaited = (row: EndedRow): boolean => isUndelivered(row) && Date.now() - (row.finishedAt?.getTime() ?? 0) < YOUNG_MS;

export const createAwaitDelivered =
  ({ stores, channel }: { stores: Pick<Stores, "rows">; channel: Pick<EventChannel, "onTransition"> }): AwaitDelivered =>
  async (row) => {
    if (!isAwaited(row)) return;
    const until = Date.now() + TIMING.endReader;
    const following = createFollow({ stores, channel })(row._id);
    try {
      following.listen();
      let now = await stores.rows.find(row._id);
      while (now && isAwaited(now) && Date.now() < until) now = await following.next(until);
    } finally {
      following.stop();
    }
  };
