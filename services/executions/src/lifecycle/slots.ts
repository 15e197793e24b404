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
  /** For whom: those who wait take turns, so that one with much to do does not keep the others waiting. */
  key?: string;
  signal?: AbortSignal | undefined;
  maxWaitMs: number;
}

export interface Slots {
  /** Runs work when its turn has come: keys in turn, and first come, first served within a key. @throws NoSlot, or the signal's reason while it waits */
  use<T>(work: () => Promise<T>, options: WaitOptions): Promise<T>;
  /** How full it is now. */
  load(): { inUse: number; waiting: number };
}

/** Bounds what runs at once in this process, and what waits for it. */
export const createSlots = ({ slots, places }: SlotsOptions): Slots => {
  let free = slots;
  /** Lines of those who wait, by key; the key whose turn is next comes first. Each entry admits one. */
  const lines = new Map<string, Set<() => void>>();
  let waiting = 0;

  const stand = (key: string, admit: () => void): void => {
    lines.set(key, (lines.get(key) ?? new Set<() => void>()).add(admit));
    waiting += 1;
  };
  const step = (key: string, admit: () => void): void => {
    const line = lines.get(key);
    if (!line?.delete(admit)) return;
    waiting -= 1;
    if (line.size === 0) lines.delete(key);
  };

  const enter = ({ key = "", signal, maxWaitMs }: WaitOptions): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      if (free > 0) {
        free -= 1;
        return resolve();
      }
      if (waiting >= places) return reject(new NoSlot("too many are waiting"));
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        step(key, admit);
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
      stand(key, admit);
    });

  const leave = (): void => {
    const [turn] = lines;
    if (!turn) return void (free += 1);
    const [key, line] = turn;
    // To the end of the turns, for its next one.
    lines.delete(key);
    lines.set(key, line);
    const [next] = line;
    next!();
  };

  return {
    load: () => ({ inUse: slots - free, waiting }),
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
