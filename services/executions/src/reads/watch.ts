/** The stream of an execution: its log, and the pieces of texts that are being written. */
import { withTimeout } from "@nodeloom/platform";
import type { EventChannel } from "../record/channel";
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

/** Adds a piece to what waits for a slow watcher: one entry for each text, however many pieces. */
const added = (waiting: HeardDelta | undefined, delta: HeardDelta): HeardDelta =>
  waiting === undefined || delta.reset ? delta : { ...waiting, text: waiting.text + delta.text, at: delta.at };

/** What a watcher has heard of an execution and not passed on yet: from now on, until it is stopped. */
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
    /** Resolves when there is something: texts only, or news of the log (or a silence, or the watcher's end). */
    next: async (): Promise<"texts" | "log"> => {
      if (!hasNews && waiting.size === 0 && !signal.aborted) {
        await withTimeout(new Promise<void>((resolve) => (wake = resolve)), TIMING.storeRead, hear);
      }
      const why = hasNews || signal.aborted ? "log" : "texts";
      hasNews = false;
      return why;
    },
    texts: (nodeId?: string): HeardDelta[] => {
      const taken = [...waiting].filter(([, delta]) => nodeId === undefined || delta.nodeId === nodeId);
      for (const [key] of taken) waiting.delete(key);
      return taken.map(([, delta]) => delta);
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

/** A piece of a text: it has no number, for it is not in the log. */
const deltaMessage = ({ at, ...data }: HeardDelta): Message =>
  executions.WatchExecutionResponse.fromPartial({ sequence: 0, type: NODE_DELTA, at: new Date(at), dataJson: JSON.stringify(data) });

/** What was heard of texts and belongs before an event of the log: all before the end, those of a node before its news. */
const textsBefore = (inbox: Inbox, type: string, { nodeId }: Record<string, unknown>): HeardDelta[] => {
  if (type === "settled") return inbox.texts();
  return typeof nodeId === "string" && type !== "node.started" ? inbox.texts(nodeId) : [];
};

/** What an event says of files that a node gave is not shown with a graph that is hidden. */
const withoutFiles = ({ files: _, ...data }: Record<string, unknown>): Record<string, unknown> => data;

type Data = Record<string, unknown>;

const mapError = (data: Data, shown: (error: RunError) => RunError): Data => {
  const error = data.error as RunError | null | undefined;
  return error ? { ...data, error: shown(error) } : data;
};

/** What an event says to those who can read the graph, and to others where that differs. */
const eventTexts = (data: Data, isHidden: boolean): Pick<Message, "dataJson" | "publicDataJson"> => {
  const open = JSON.stringify(mapError(isHidden ? withoutFiles(data) : data, publicError));
  if (isHidden) return { dataJson: open, publicDataJson: "" };
  const dataJson = JSON.stringify(mapError(data, ({ publicMessage: _, ...error }) => error));
  return { dataJson, publicDataJson: open === dataJson ? "" : open };
};

/**
 * The ordered event log of an execution: what is recorded, then what happens, until it is final. Texts that are written
 * meanwhile come in pieces in between, each before the end of its node; not those of a graph that is hidden.
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
