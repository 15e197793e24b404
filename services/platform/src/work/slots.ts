export class NoSlot extends Error {
  override readonly name = "NoSlot";
}

export interface SlotsOptions {
  /** Number of slots. Each piece of work takes one, or as many as its weight. */
  concurrency: number;
  queueLimit: number;
}

export interface WaitOptions {
  /** Keys take turns, so that a key with much work doesn't delay others. */
  key?: string;
  /** Number of slots that the work takes, at most all. Default: 1. */
  weight?: number;
  signal?: AbortSignal | undefined;
  maxWaitMs: number;
}

export interface Slots {
  /**
   * Runs work when its turn comes. Keys take turns; within a key, work runs in order of arrival.
   * @throws NoSlot, or the signal's reason while the work waits
   */
  use<T>(work: () => Promise<T>, options: WaitOptions): Promise<T>;
  /** Takes slots for work that ends elsewhere. The returned function releases the slots once. */
  enter(options: WaitOptions): Promise<() => void>;
  load(): { inUse: number; waiting: number };
}

/** Bounds how much work runs concurrently in this process, and how much waits. */
export const createSlots = ({ concurrency, queueLimit }: SlotsOptions): Slots => {
  let free = concurrency;
  /** Waiting work by key, with weights. The first key is next. */
  const lines = new Map<string, Map<() => void, number>>();
  let waiting = 0;

  const stand = (key: string, admit: () => void, weight: number): void => {
    lines.set(key, (lines.get(key) ?? new Map<() => void, number>()).set(admit, weight));
    waiting += 1;
  };
  const step = (key: string, admit: () => void): void => {
    const line = lines.get(key);
    if (!line?.delete(admit)) return;
    waiting -= 1;
    if (line.size === 0) lines.delete(key);
  };

  /** Starts waiting work in turn while there are free slots. Small work doesn't overtake larger work that is next. */
  const admitNext = (): void => {
    for (let [turn] = lines; turn; [turn] = lines) {
      const [key, line] = turn;
      const [[admit, weight]] = line as unknown as [[() => void, number]];
      if (weight > free) return;
      free -= weight;
      // Deleted and inserted again to move the key to the end.
      lines.delete(key);
      lines.set(key, line);
      admit();
    }
  };

  const takePlace = ({ key = "", signal, maxWaitMs }: WaitOptions, weight: number): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      if (waiting === 0 && free >= weight) {
        free -= weight;
        return resolve();
      }
      if (waiting >= queueLimit) return reject(new NoSlot("too many are waiting"));
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        step(key, admit);
      };
      const admit = (): void => {
        leave();
        resolve();
      };
      const refuse = (reason: Error): void => {
        leave();
        reject(reason);
        // The removed work may have kept smaller work waiting.
        admitNext();
      };
      const giveUp = (): void => refuse(signal!.reason as Error);
      const timer = setTimeout(() => refuse(new NoSlot("none came free in time")), maxWaitMs);
      signal?.addEventListener("abort", giveUp);
      stand(key, admit, weight);
    });

  const enter = async (options: WaitOptions): Promise<() => void> => {
    const weight = Math.min(options.weight ?? 1, concurrency);
    await takePlace(options, weight);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      free += weight;
      admitNext();
    };
  };

  return {
    load: () => ({ inUse: concurrency - free, waiting }),
    enter,
    use: async (work, options) => {
      const leave = await enter(options);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
};
