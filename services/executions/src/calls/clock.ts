import { TIMING } from "../run/timing";

/** The times of one call: what it may take, counted from when its provider was asked. */

interface ClockOptions {
  /** When an earlier attempt asked the provider, moved by what was waited since. */
  askedAt?: number | undefined;
  deadline?: number;
  /** Hears when the provider was asked, and of every move of that. */
  onAsked?: (askedAt: number) => void;
}

export type CallClock = ReturnType<typeof createCallClock>;

/**
 * The times of one call, all of whose attempts are one. They count from when its provider was asked: what waits in a line
 * of ours, or for a worker of ours, is no failure of a provider.
 */
export const createCallClock = ({ askedAt, deadline = Date.now() + TIMING.run, onAsked }: ClockOptions = {}) => {
  let since = askedAt;
  const set = (at: number): number => {
    since = at;
    onAsked?.(at);
    return at;
  };
  const asked = (): number => since ?? set(Date.now());
  return {
    /** How long a place in a line of ours is waited for: as long as the run may last. In milliseconds since the epoch. */
    deadline,
    /** The provider is asked from now on, unless it was before. */
    asked: (): void => void asked(),
    /** Until when a provider that is away or busy is tried again, in milliseconds since the epoch. Counts as asking it. */
    triesUntil: (totalMs: number = TIMING.submitTotal): number => asked() + totalMs,
    /** Waits in a line of ours, for which time stands still. */
    waiting: async <T>(wait: () => Promise<T>): Promise<T> => {
      const startedAt = Date.now();
      try {
        return await wait();
      } finally {
        if (since !== undefined) set(since + Date.now() - startedAt);
      }
    },
  };
};
