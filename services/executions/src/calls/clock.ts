import { TIMING } from "../contract/timing";

/**
 * The times of one call, all of whose attempts are one. They count from when its provider was asked: what waits in a line
 * of ours, or for a worker of ours, is no failure of a provider.
 */
export interface CallClock {
  /** How long a place in a line of ours is waited for: as long as the run may last. In milliseconds since the epoch. */
  readonly deadline: number;
  /** The provider is asked from now on, unless it was before. */
  asked(): void;
  /** Until when a provider that is away or busy is tried again, in milliseconds since the epoch. Counts as asking it. */
  triesUntil(): number;
  /** Waits in a line of ours, for which time stands still. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
}

export interface ClockOptions {
  /** When an earlier attempt asked the provider, moved by what was waited since. */
  askedAt?: number | undefined;
  deadline?: number;
  /** Hears when the provider was asked, and of every move of that. */
  onAsked?: (askedAt: number) => void;
}

export const createCallClock = ({ askedAt, deadline = Date.now() + TIMING.run, onAsked }: ClockOptions = {}): CallClock => {
  let since = askedAt;
  const set = (at: number): number => {
    since = at;
    onAsked?.(at);
    return at;
  };
  const asked = (): number => since ?? set(Date.now());
  return {
    deadline,
    asked: () => void asked(),
    triesUntil: () => asked() + TIMING.submitTotal,
    waiting: async (wait) => {
      const startedAt = Date.now();
      try {
        return await wait();
      } finally {
        if (since !== undefined) set(since + Date.now() - startedAt);
      }
    },
  };
};
