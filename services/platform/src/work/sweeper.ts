import { setTimeout as delay } from "node:timers/promises";

export interface SweeperOptions {
  /** Makes one sweep. It must end soon after the signal, because the process is stopping. */
  sweep(signal: AbortSignal): Promise<void>;
  intervalMs: number;
  /** Called with the error of a failed sweep. The next sweep isn't affected. */
  onFailure(error: unknown): void;
}

export interface Sweeper {
  /** Starts a sweep now, or another one after the running sweep. */
  wake(): void;
  stop(): Promise<void>;
}

/** Sweeps immediately, when woken, and at every interval. Sweeps do work that other processes left undone. */
export const startSweeper = ({ sweep, intervalMs, onFailure }: SweeperOptions): Sweeper => {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let again = false;

  const run = (): void => {
    if (stopping.signal.aborted) return;
    if (running) return void (again = true);
    again = false;
    running = sweep(stopping.signal)
      .catch(onFailure)
      .finally(() => {
        running = undefined;
        if (again) run();
      });
  };

  const repeat = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await delay(intervalMs, undefined, { signal: stopping.signal, ref: false });
      run();
    }
  };
  repeat().catch(() => undefined);
  run();

  return {
    wake: run,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
