/** There was no place in the line, or none came free in time. */
export class NoSlot extends Error {
  override readonly name = "NoSlot";
}

export interface SlotsOptions {
  /** What may run at once. */
  slots: number;
  /** What may wait for that. */
  places: number;
}

export interface WaitOptions {
  signal?: AbortSignal | undefined;
  maxWaitMs: number;
}

export interface Slots {
  /** Runs work when its turn has come, first come, first served. @throws NoSlot, or the signal's reason while it waits */
  use<T>(work: () => Promise<T>, options: WaitOptions): Promise<T>;
}

/** Bounds what runs at once in this process, and what waits for it. */
export const createSlots = ({ slots, places }: SlotsOptions): Slots => {
  let free = slots;
  /** Each admits one who waits; in the order in which they came. */
  const line = new Set<() => void>();

  const enter = ({ signal, maxWaitMs }: WaitOptions): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      if (free > 0) {
        free -= 1;
        return resolve();
      }
      if (line.size >= places) return reject(new NoSlot("too many are waiting"));
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        line.delete(admit);
      };
      const admit = (): void => {
        leave();
        resolve();
      };
      const giveUp = (): void => {
        leave();
        reject(signal!.reason as Error);
      };
      const timer = setTimeout(() => {
        leave();
        reject(new NoSlot("none came free in time"));
      }, maxWaitMs);
      signal?.addEventListener("abort", giveUp);
      line.add(admit);
    });

  const leave = (): void => {
    const [next] = line;
    if (next) next();
    else free += 1;
  };

  return {
    use: async (work, options) => {
      await enter(options);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
};
