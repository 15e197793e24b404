/** Runs concurrent work one call at a time, in a chosen order. */
export interface Interleaving {
  /** Waits for a turn; the returned function reports its end. */
  turn(what: string): Promise<() => void>;
  /** Gives turns until all work is done. */
  run(work: readonly Promise<unknown>[]): Promise<void>;
  /** Calls in the order in which they were made. */
  readonly order: readonly string[];
}

interface Pending {
  what: string;
  go: (over: () => void) => void;
}

const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

/** @param choices indexes of the waiting calls to run next, repeated from the first one */
export const createInterleaving = (choices: readonly number[]): Interleaving => {
  const pending: Pending[] = [];
  const order: string[] = [];
  let turns = 0;
  const next = async (): Promise<void> => {
    const index = (choices[turns % choices.length] ?? 0) % pending.length;
    turns += 1;
    const [{ what, go }] = pending.splice(index, 1) as [Pending];
    order.push(what);
    await new Promise<void>(go);
  };
  return {
    order,
    turn: (what) => new Promise((resolve) => pending.push({ what, go: (over) => resolve(over) })),
    run: async (work) => {
      let isDone = false;
      const all = Promise.allSettled(work).then(() => {
        isDone = true;
      });
      while (!isDone || pending.length > 0) {
        // Work that waited for the last call continues to its next one.
        await breath();
        await breath();
        if (pending.length > 0) await next();
        else if (!isDone) await moment();
      }
      await all;
    },
  };
};
