/** There was no place in the line, or none came free in time. */
export class NoSlot extends Error {
  override readonly name = "NoSlot";
}

export interface SlotsOptions {
  /** What may run at once; or how much, where work has a weight. */
  concurrency: number;
  /** What may wait for that. */
  queueLimit: number;
}

export interface WaitOptions {
  /** For whom: those who wait take turns, so that one with much to do does not keep the others waiting. */
  key?: string;
  /** How many slots the work takes; at most all of them. Default: one. */
  weight?: number;
  signal?: AbortSignal | undefined;
  maxWaitMs: number;
}

export interface Slots {
  /** Runs work when its turn has come: keys in turn, and first come, first served within a key. @throws NoSlot, or the signal's reason while it waits */
  use<T>(work: () => Promise<T>, options: WaitOptions): Promise<T>;
  /** The same for work that ends elsewhere: the returned function gives the slots back, once. */
  enter(options: WaitOptions): Promise<() => void>;
  /** How full it is now. */
  load(): { inUse: number; waiting: number };
}

/** Bounds what runs at once in this process, and what waits for it. */
export const createSlots = ({ concurrency, queueLimit }: SlotsOptions): Slots => {
  let free = concurrency;
  /** Lines of those who wait, by key, with what each needs; the key whose turn is next comes first. Each entry admits one. */
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

  /** Admits those whose turn it is while there is room. What is next and large is not passed by what is small. */
  const admitNext = (): void => {
    for (let [turn] = lines; turn; [turn] = lines) {
      const [key, line] = turn;
      const [[admit, weight]] = line as unknown as [[() => void, number]];
      if (weight > free) return;
      free -= weight;
      // To the end of the turns, for its next one.
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
        // It may have kept smaller ones waiting.
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
