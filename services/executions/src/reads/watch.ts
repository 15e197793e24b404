/** Streams an execution: its log, and pieces of texts while models write them. */
import { withTimeout } from "@nodeloom/platform";
import type { EventChannel } from "../record/runs/channel";
import { NODE_DELTA, type TextDelta, type TextStreams } from "../calls/text-streams";
import { TIMING } from "../run/timing";
import { executionNotFound, publicError } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { AwaitDelivered } from "../accept/follow";
import { isFinal } from "../run/states";
import type { RunError } from "../run/types";
import type { Stores } from "../record/stores";

interface HeardDelta extends TextDelta {
  at: number;
}

type Inbox = ReturnType<typeof createInbox>;

/** Appends a piece to the pieces that wait for a slow watcher. Each text has one entry, however many pieces arrive. */
const added = (waiting: HeardDelta | undefined, delta: HeardDelta): HeardDelta =>
  waiting === undefined || delta.reset ? delta : { ...waiting, text: waiting.text + delta.text, at: delta.at };

/** Buffers events that the watcher hasn't received yet. */
const createInbox = (channel: Pick<EventChannel, "subscribe">, executionId: string, signal: AbortSignal) => {
  const waiting = new Map<string, HeardDelta>();
  let hasNews = false;
  let wake: () => void = () => undefined;

  const hear = (): void => {
    hasNews = true;
    wake();
  };
  const unsubscribe = channel.subscribe(executionId, ({ type, at, data }) => {
    if (type !== NODE_DELTA) return hear();
    const delta = { ...(data as unknown as TextDelta), at };
    const key = `${delta.item}:${delta.nodeId}`;
    waiting.set(key, added(waiting.get(key), delta));
    wake();
  });
  signal.addEventListener("abort", hear);

  return {
    /**
     * Resolves when texts or log events arrive: `texts` for texts only, otherwise `log`. A silent channel and a watcher that stops also
     * resolve to `log`.
     */
    next: async (): Promise<"texts" | "log"> => {
      if (!hasNews && waiting.size === 0 && !signal.aborted) {
        await withTimeout(new Promise<void>((resolve) => (wake = resolve)), TIMING.storeRead, hear);
      }
      const why = hasNews || signal.aborted ? "log" : "texts";
      hasNews = false;
      return why;
    },
    texts: (nodeId?: string): HeardDelta[] => {
      const takenDeltas = [...waiting].filter(([, delta]) => nodeId === undefined || delta.nodeId === nodeId);
      for (const [key] of takenDeltas) waiting.delete(key);
      return takenDeltas.map(([, delta]) => delta);
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

/** Pieces have no number, because they aren't in the log. */
const deltaMessage = ({ at, ...data }: HeardDelta): Message =>
  executions.WatchExecutionResponse.fromPartial({ sequence: 0, type: NODE_DELTA, at: new Date(at), dataJson: JSON.stringify(data) });

/** Returns the pieces to send before a log event: all pieces before the end, and a node's pieces before its events. */
const textsBefore = (inbox: Inbox, type: string, { nodeId }: Record<string, unknown>): HeardDelta[] => {
  if (type === "settled") return inbox.texts();
  return typeof nodeId === "string" && type !== "node.started" ? inbox.texts(nodeId) : [];
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
 * end of their node. Hidden graphs send no pieces.
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
          if (!graphHidden) yield* textsBefore(inbox, type, data).map(deltaMessage);
          yield executions.WatchExecutionResponse.fromPartial({ sequence, type, at, ...eventTexts(data, graphHidden === true) });
          last = sequence;
        }
        if (log.more) continue;
        if (isFinal(log.row)) return;
        if (!graphHidden) unfollow ??= texts.follow(executionId);
        while ((await inbox.next()) === "texts") {
          const deltas = inbox.texts();
          if (!graphHidden) yield* deltas.map(deltaMessage);
        }
      }
    } finally {
      unfollow?.();
      inbox.stop();
    }
  };
