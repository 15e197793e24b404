export class NoSlot extends Error {
  override readonly name = "NoSlot";
}

export interface SlotsOptions {
  /** Number of slots. Work takes one, or as many as its weight. */
  concurrency: number;
  queueLimit: number;
}

export interface WaitOptions {
  /** Keys take turns, so that a key with much work doesn't make the others wait. */
  key?: string;
  /** Slots of the work, at most all. Default: one. */
  weight?: number;
  signal?: AbortSignal | undefined;
  maxWaitMs: number;
}

export interface Slots {
  /**
   * Runs work when its turn comes: keys in turn, first come, first served within a key.
   * @throws NoSlot; the signal's reason while it waits
   */
  use<T>(work: () => Promise<T>, options: WaitOptions): Promise<T>;
  /** For work that ends elsewhere. The returned function releases the slots once. */
  enter(options: WaitOptions): Promise<() => void>;
  load(): { inUse: number; waiting: number };
}

/** Bounds the work that runs in this process at once, and the work that waits. */
export const createSlots = ({ concurrency, queueLimit }: SlotsOptions): Slots => {
  let free = concurrency;
  /** Waiting work by key, with weights. The next key comes first. */
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

  /** Admits work in turn while there is room. Small work doesn't overtake larger work that is next. */
  const admitNext = (): void => {
    for (let [turn] = lines; turn; [turn] = lines) {
      const [key, line] = turn;
      const [[admit, weight]] = line as unknown as [[() => void, number]];
      if (weight > free) return;
      free -= weight;
      // The key moves to the end.
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
        // The work that left could have kept smaller work waiting.
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
