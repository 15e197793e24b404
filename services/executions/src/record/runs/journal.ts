/** Buffers progress of runs before it is written to their logs. */
import { LRUCache } from "lru-cache";
import type { ExecutionEvent } from "../../run/events";
import type { KnownLog } from "./event-log";

/** Maximum number of keys in memory over all logs. */
const REMEMBERED_KEYS = 200_000;

interface Page {
  events: ExecutionEvent[];
  written: ((outcome: Promise<KnownLog | null>) => void)[];
  /** Time of the write, in milliseconds of `performance.now`. */
  dueAt: number;
  timer: NodeJS.Timeout | undefined;
}

interface JournalOptions {
  append: (executionId: string, events: readonly ExecutionEvent[], knownLog: KnownLog | undefined) => Promise<KnownLog | null>;
  announce: (executionId: string, events: readonly ExecutionEvent[]) => void;
}

/**
 * Writes the progress of runs asynchronously. Events of a run that come close together share one write. Events just before a run's ending
 * is decided are written in the same update as the decision. If a process dies, its unwritten events are recorded when the run ends.
 */
export const createJournal = ({ append, announce }: JournalOptions) => {
  const waiting = new Map<string, Page>();
  const writing = new Map<string, Promise<unknown>>();
  const closing = new Set<string>();
  /** Contents of each log after this process's last write. */
  const knownLogs = new LRUCache<string, KnownLog>({ maxSize: REMEMBERED_KEYS, sizeCalculation: ({ recorded }) => recorded.size + 1 });

  const appendAll = async (executionId: string, events: readonly ExecutionEvent[]): Promise<KnownLog | null> => {
    await writing.get(executionId)?.catch(() => undefined);
    const appended = await append(executionId, events, knownLogs.get(executionId));
    if (!appended) return null;
    knownLogs.set(executionId, appended);
    announce(executionId, events);
    return appended;
  };

  const write = (executionId: string): void => {
    const page = waiting.get(executionId);
    if (!page || closing.has(executionId)) return;
    waiting.delete(executionId);
    clearTimeout(page.timer);
    const outcome = appendAll(executionId, page.events);
    const isOver = outcome
      .catch(() => undefined)
      .then(() => {
        if (writing.get(executionId) === isOver) writing.delete(executionId);
      });
    writing.set(executionId, isOver);
    for (const resolve of page.written) resolve(outcome);
  };

  const schedule = (executionId: string, page: Page, withinMs: number): void => {
    const dueAt = performance.now() + withinMs;
    if (dueAt >= page.dueAt) return;
    page.dueAt = dueAt;
    clearTimeout(page.timer);
    page.timer = setTimeout(() => write(executionId), withinMs);
  };

  return {
    /**
     * Queues an event for a shared write.
     * @param withinMs maximum delay of the write in milliseconds
     * @returns the known log after the event is recorded; null if the run had already ended
     */
    note: (executionId: string, event: ExecutionEvent, withinMs: number): Promise<KnownLog | null> =>
      new Promise((resolve) => {
        const page = waiting.get(executionId) ?? { events: [], written: [], dueAt: Infinity, timer: undefined };
        waiting.set(executionId, page);
        if (!page.events.some(({ key }) => key === event.key)) page.events.push(event);
        page.written.push(resolve);
        schedule(executionId, page, withinMs);
      }),

    /**
     * Adds the pending events to a run's last write. If that write fails or returns null, they are written separately.
     * @param writeLast receives the pending events, and the last known contents of the log
     */
    close: async <T>(
      executionId: string,
      writeLast: (waiting: readonly ExecutionEvent[], knownLog: KnownLog | undefined) => Promise<T>,
    ): Promise<T> => {
      closing.add(executionId);
      try {
        await writing.get(executionId);
        const result = await writeLast([...(waiting.get(executionId)?.events ?? [])], knownLogs.get(executionId));
        if (result === null) return result;
        knownLogs.delete(executionId);
        const page = waiting.get(executionId);
        waiting.delete(executionId);
        clearTimeout(page?.timer);
        for (const resolve of page?.written ?? []) resolve(Promise.resolve(null));
        return result;
      } finally {
        closing.delete(executionId);
        write(executionId);
      }
    },

    flush: async (): Promise<void> => {
      for (const executionId of [...waiting.keys()]) write(executionId);
      await Promise.all(writing.values());
    },
  };
};
