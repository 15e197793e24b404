import type { UsageStore } from "./store";

interface Waiting {
  resolve(id: number): void;
  reject(error: unknown): void;
}

/** Row ids from the shared counter, increasing; calls that arrive together share one increment. */
export const createIds = (store: Pick<UsageStore, "reserveIds">) => {
  let waiting: Waiting[] = [];
  let working = false;

  const work = async (): Promise<void> => {
    working = true;
    // Calls that come with one message arrive one right after the other.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const last = await store.reserveIds(batch.length);
        batch.forEach((caller, index) => caller.resolve(last - batch.length + 1 + index));
      } catch (error) {
        for (const caller of batch) caller.reject(error);
      }
    }
    working = false;
  };

  return {
    /** An id that no other row has; one that isn't used leaves a gap. */
    next: (): Promise<number> =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        if (!working) void work();
      }),
  };
};
