import { unavailable } from "@nodeloom/kernel";

export interface BatchItem<T, R> {
  value: T;
  /** Time at which the caller stops waiting, in milliseconds since the epoch. */
  deadlineMs: number;
  resolve(result: R): void;
  reject(error: unknown): void;
}

export interface BatcherOptions<T, R> {
  /** Settles every item of a batch, and never throws. The key's next batch starts after it resolves. */
  work(key: string, batch: readonly BatchItem<T, R>[]): Promise<void>;
  maxBatch: number;
  maxWaiting: number;
  /**
   * Time for which a batch waits until it is full, in milliseconds. Without it, a batch has the items that the running code submits.
   */
  gatherMs?: number | undefined;
  /** Creates the error for items that are too many or waited too long. */
  overloaded(): Error;
}

export interface Batcher<T, R> {
  submit(key: string, value: T, deadlineMs: number): Promise<R>;
  /** Accepts no more items and waits for the accepted ones. */
  close(): Promise<void>;
}

interface Queue<T, R> {
  waiting: BatchItem<T, R>[];
  pending: Promise<void> | undefined;
  /** Ends the wait for more items. */
  begin: () => void;
}

const stopping = (): Error => unavailable("the process is stopping");

/** Processes items of one key in batches. Items that arrive during a batch form the next one. Keys don't wait for each other. */
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

  const gathered = async (queue: Queue<T, R>): Promise<void> => {
    if (gatherMs === undefined || isClosed || queue.waiting.length >= maxBatch) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      queue.begin = resolve;
      timer = setTimeout(resolve, gatherMs);
    });
    clearTimeout(timer);
  };

  const workOff = async (key: string, queue: Queue<T, R>): Promise<void> => {
    while (queue.waiting.length > 0) {
      await gathered(queue);
      const batch = next(queue);
      if (batch.length > 0) await work(key, batch);
    }
    queues.delete(key);
  };

  return {
    submit: (key, value, deadlineMs) => {
      if (isClosed) return Promise.reject(stopping());
      const queue = queues.get(key) ?? { waiting: [], pending: undefined, begin: () => undefined };
      if (queue.waiting.length >= maxWaiting) return Promise.reject(overloaded());
      queues.set(key, queue);
      return new Promise<R>((resolve, reject) => {
        queue.waiting.push({ value, deadlineMs, resolve, reject });
        queue.pending ??= workOff(key, queue);
        if (queue.waiting.length >= maxBatch) queue.begin();
      });
    },

    close: async () => {
      isClosed = true;
      for (const { begin } of queues.values()) begin();
      await Promise.all([...queues.values()].flatMap(({ pending }) => (pending ? [pending] : [])));
    },
  };
};
