import { TIMING } from "../run/timing";

/** Timeouts of one call, counted from its first request to the provider. */

interface ClockOptions {
  /** Time at which an earlier attempt sent the request, moved forward by later waits in queues. */
  askedAt?: number | undefined;
  deadline?: number;
  /** Receives the time of the first request, and every change to it. */
  onAsked?: (askedAt: number) => void;
}

export type CallClock = ReturnType<typeof createCallClock>;

/**
 * Timeouts of one call over all its attempts. They start with the first request, so time in the platform's queues or for a worker doesn't
 * count.
 */
export const createCallClock = ({ askedAt, deadline = Date.now() + TIMING.run, onAsked }: ClockOptions = {}) => {
  let since = askedAt;
  const set = (at: number): number => {
    since = at;
    onAsked?.(at);
    return at;
  };
  const start = (): number => since ?? set(Date.now());
  return {
    /** Deadline for a place: the run's own deadline, in milliseconds since the epoch. */
    deadline,
    /** Starts the timeouts, unless an earlier attempt has started them. */
    asked: (): void => void start(),
    /** Returns when retries of an unavailable or busy provider end, in milliseconds since the epoch. Starts the timeouts. */
    triesUntil: (totalMs: number = TIMING.submitTotal): number => start() + totalMs,
    /** Stops the clock while the call waits in one of the platform's queues. */
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
