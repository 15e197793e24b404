import { TIMING } from "../run/timing";

/** Timeouts of one call, counted from its first request to the provider. */

interface ClockOptions {
  /** When an earlier attempt sent its request, moved forward by the waits since. */
  askedAt?: number | undefined;
  deadline?: number;
  /** Receives the time of the first request, and every change of it. */
  onAsked?: (askedAt: number) => void;
}

export type CallClock = ReturnType<typeof createCallClock>;

/**
 * Timeouts of one call over all its attempts. They start with the first request: time in our queues or waiting for a worker isn't the
 * provider's fault.
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
    /** Waiting for a place ends here, with the run's own time. Milliseconds since the epoch. */
    deadline,
    /** Starts the timeouts, unless an earlier attempt has. */
    asked: (): void => void asked(),
    /** When retries of an unavailable or busy provider end, in milliseconds since the epoch. Starts the timeouts. */
    triesUntil: (totalMs: number = TIMING.submitTotal): number => asked() + totalMs,
    /** Stops the clock during a wait in one of our queues. */
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
