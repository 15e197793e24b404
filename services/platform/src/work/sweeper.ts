import { setTimeout as delay } from "node:timers/promises";

export interface SweeperOptions {
  /** One sweep. It must end soon after the signal, which means that the process stops. */
  sweep(signal: AbortSignal): Promise<void>;
  intervalMs: number;
  /** Called with a failed sweep's error. The next sweep isn't affected. */
  onFailure(error: unknown): void;
}

export interface Sweeper {
  /** Sweeps now, or once more after the running sweep. */
  wake(): void;
  stop(): Promise<void>;
}

/** Sweeps at once, when woken, and at every interval, for work that other processes left undone. */
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
