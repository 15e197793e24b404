/** Streams an execution: its log, pieces of texts while models write them, and previews of unfinished outputs. */
import { withTimeout } from "@nodeloom/platform";
import type { EventChannel, AwaitDelivered } from "../record/runs/channel";
import { NODE_PREVIEW } from "../calls/previews";
import { NODE_DELTA, type TextDelta, type TextStreams } from "../calls/text-streams";
import { TIMING } from "../run/timing";
import { executionNotFound, publicError } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { isFinal } from "../run/states";
import type { RunError } from "../run/types";
import type { Stores } from "../record/stores";

/** An event that isn't in the log. */
interface Unrecorded {
  type: string;
  at: number;
  data: Record<string, unknown>;
}

type Inbox = ReturnType<typeof createInbox>;

/**
 * What a slow watcher gets of what waits for it, however much arrives: each text once, and of each preview the newest.
 * @param before waits already
 */
const joined = (before: Unrecorded | undefined, next: Unrecorded): Unrecorded => {
  const { text, reset } = next.data as Partial<TextDelta>;
  if (before === undefined || reset) return next;
  const data = text === undefined ? next.data : { text: String(before.data.text) + text };
  return { ...next, data: { ...before.data, ...data } };
};

/** Buffers events that the watcher hasn't received yet. */
const createInbox = (channel: Pick<EventChannel, "subscribe">, executionId: string, signal: AbortSignal) => {
  const waiting = new Map<string, Unrecorded>();
  let hasNews = false;
  let wake: () => void = () => undefined;

  const hear = (): void => {
    hasNews = true;
    wake();
  };
  const unsubscribe = channel.subscribe(executionId, ({ type, at, data }) => {
    if (type !== NODE_DELTA && type !== NODE_PREVIEW) return hear();
    const key = `${type}:${String(data.item)}:${String(data.nodeId)}`;
    waiting.set(key, joined(waiting.get(key), { type, at, data }));
    wake();
  });
  signal.addEventListener("abort", hear);

  return {
    /**
     * Resolves when events arrive: `unrecorded` if none of them is in the log, otherwise `log`. A silent channel and a watcher that stops
     * also resolve to `log`.
     */
    next: async (): Promise<"unrecorded" | "log"> => {
      if (!hasNews && waiting.size === 0 && !signal.aborted) {
        await withTimeout(new Promise<void>((resolve) => (wake = resolve)), TIMING.storeRead, hear);
      }
      const why = hasNews || signal.aborted ? "log" : "unrecorded";
      hasNews = false;
      return why;
    },
    take: (nodeId?: string): Unrecorded[] => {
      const takenEntries = [...waiting].filter(([, { data }]) => nodeId === undefined || data.nodeId === nodeId);
      for (const [key] of takenEntries) waiting.delete(key);
      return takenEntries.map(([, event]) => event);
    },
    stop: (): void => {
      unsubscribe();
      signal.removeEventListener("abort", hear);
      wake();
    },
  };
};

type Message = executions.WatchExecutionResponse;

export type Watch = (executionId: string, userId: string, after: number, signal: AbortSignal) => AsyncIterable<Message>;

/** These events have no number, because they aren't in the log. */
const unrecordedMessage = ({ type, at, data }: Unrecorded): Message =>
  executions.WatchExecutionResponse.fromPartial({ sequence: 0, type, at: new Date(at), dataJson: JSON.stringify(data) });

/** Returns the events to send before a log event: all that wait before the end, and a node's own before its events. */
const eventsBefore = (inbox: Inbox, type: string, { nodeId }: Record<string, unknown>): Unrecorded[] => {
  if (type === "settled") return inbox.take();
  return typeof nodeId === "string" && type !== "node.started" ? inbox.take(nodeId) : [];
};

/** Hidden graphs hide the files of their nodes. */
const withoutFiles = ({ files: _, ...data }: Record<string, unknown>): Record<string, unknown> => data;

type Data = Record<string, unknown>;

const mapError = (data: Data, showError: (error: RunError) => RunError): Data => {
  const error = data.error as RunError | null | undefined;
  return error ? { ...data, error: showError(error) } : data;
};

/** Returns event data for callers who can read the graph, and different data for other callers if needed. */
const eventTexts = (data: Data, isHidden: boolean): Pick<Message, "dataJson" | "publicDataJson"> => {
  const open = JSON.stringify(mapError(isHidden ? withoutFiles(data) : data, publicError));
  if (isHidden) return { dataJson: open, publicDataJson: "" };
  const dataJson = JSON.stringify(mapError(data, ({ publicMessage: _, fault: _fault, ...error }) => error));
  return { dataJson, publicDataJson: open === dataJson ? "" : open };
};

/**
 * Streams the ordered event log of an execution until it is final, starting with the recorded events. Pieces of a text are sent before the
 * end of their node. Hidden graphs send no pieces and no previews.
 */
export const createWatch = (
  stores: Pick<Stores, "log">,
  channel: Pick<EventChannel, "subscribe">,
  texts: Pick<TextStreams, "follow">,
  awaitDelivered: AwaitDelivered,
): Watch =>
  async function* watch(executionId, userId, after, signal) {
    const inbox = createInbox(channel, executionId, signal);
    let unfollow: (() => void) | undefined;
    let last = after;
    try {
      while (!signal.aborted) {
        const log = await stores.log.events(executionId, userId, last);
        if (!log) throw executionNotFound();
        const { graphHidden } = log.row;
        await awaitDelivered(log.row);
        for (const { sequence, type, at, data } of log.events) {
          if (!graphHidden) yield* eventsBefore(inbox, type, data).map(unrecordedMessage);
          yield executions.WatchExecutionResponse.fromPartial({ sequence, type, at, ...eventTexts(data, graphHidden === true) });
          last = sequence;
        }
        if (log.more) continue;
        if (isFinal(log.row)) return;
        if (!graphHidden) unfollow ??= texts.follow(executionId);
        while ((await inbox.next()) === "unrecorded") {
          const events = inbox.take();
          if (!graphHidden) yield* events.map(unrecordedMessage);
        }
      }
    } finally {
      unfollow?.();
      inbox.stop();
    }
  };
