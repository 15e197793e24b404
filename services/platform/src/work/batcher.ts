import { setTimeout as delay } from "node:timers/promises";
import { unavailable } from "@nodeloom/kernel";

export interface BatchItem<T, R> {
  value: T;
  /** When its caller stops waiting, in milliseconds since the epoch. */
  deadlineMs: number;
  resolve(result: R): void;
  reject(error: unknown): void;
}

export interface BatcherOptions<T, R> {
  /** Answers every item of a batch, and never throws. The key's next batch begins when it is done. */
  work(key: string, batch: readonly BatchItem<T, R>[]): Promise<void>;
  maxBatch: number;
  maxWaiting: number;
  /** How long a batch that is not full waits for more, in milliseconds. Without it, a batch takes what the running code submits. */
  gatherMs?: number | undefined;
  /** The error of items that are too many, or waited for too long. */
  overloaded(): Error;
}

export interface Batcher<T, R> {
  submit(key: string, value: T, deadlineMs: number): Promise<R>;
  /** Takes no more items, and waits for those that were taken. */
  close(): Promise<void>;
}

interface Queue<T, R> {
  waiting: BatchItem<T, R>[];
  done: Promise<void> | undefined;
}

const stopping = (): Error => unavailable("the process is stopping");

/** Handles items of one key together: those that arrive during a batch form the next one. Keys don't wait for each other. */
export const createBatcher = <T, R>(options: BatcherOptions<T, R>): Batcher<T, R> => {
  const { work, maxBatch, maxWaiting, gatherMs, overloaded } = options;
  const queues = new Map<string, Queue<T, R>>();
  let isClosed = false;

  const next = ({ waiting }: Queue<T, R>): BatchItem<T, R>[] => {
    const batch = waiting.splice(0, maxBatch);
    const now = Date.now();
    const late = batch.filter(({ deadlineMs }) => deadlineMs <= now);
    for (const item of late) item.reject(overloaded());
    return late.length > 0 ? batch.filter(({ deadlineMs }) => deadlineMs > now) : batch;
  };

  const gathered = (): Promise<void> => (gatherMs === undefined ? Promise.resolve() : delay(gatherMs));

  const workOff = async (key: string, queue: Queue<T, R>): Promise<void> => {
    while (queue.waiting.length > 0) {
      if (queue.waiting.length < maxBatch) await gathered();
      const batch = next(queue);
      if (batch.length > 0) await work(key, batch);
    }
    queues.delete(key);
  };

  return {
    submit: (key, value, deadlineMs) => {
      if (isClosed) return Promise.reject(stopping());
      const queue = queues.get(key) ?? { waiting: [], done: undefined };
      if (queue.waiting.length >= maxWaiting) return Promise.reject(overloaded());
      queues.set(key, queue);
      return new Promise<R>((resolve, reject) => {
        queue.waiting.push({ value, deadlineMs, resolve, reject });
        queue.done ??= workOff(key, queue);
      });
    },

    close: async () => {
      isClosed = true;
      await Promise.all([...queues.values()].flatMap(({ done }) => (done ? [done] : [])));
    },
  };
};
