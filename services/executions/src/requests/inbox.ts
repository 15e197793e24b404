import { withTimeout } from "@nodeloom/platform";
import type { EventChannel } from "../store/channel";
import { NODE_DELTA, type TextDelta } from "../calls/text-streams";
import { TIMING } from "../run/timing";

export interface HeardDelta extends TextDelta {
  at: number;
}

export type Inbox = ReturnType<typeof createInbox>;

/** Adds a piece to what waits for a slow watcher: one entry for each text, however many pieces. */
const added = (waiting: HeardDelta | undefined, delta: HeardDelta): HeardDelta =>
  waiting === undefined || delta.reset ? delta : { ...waiting, text: waiting.text + delta.text, at: delta.at };

/** What a watcher has heard of an execution and not passed on yet: from now on, until it is stopped. */
export const createInbox = (channel: Pick<EventChannel, "subscribe">, executionId: string, signal: AbortSignal) => {
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
    /** Takes the texts out, of one node or of all. */
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
