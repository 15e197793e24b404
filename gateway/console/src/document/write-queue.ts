/** Why a write did not happen, and so what to do about it. */
export type WriteFailure =
  /** Nobody answered, or the service is busy: tried again by itself. */
  | { kind: "unreachable"; message: string; retryAfterMs?: number | undefined }
  /** Signed out: tried again after `retry`. */
  | { kind: "signed-out"; message: string }
  /** The service says no: tried again with the next change. */
  | { kind: "refused"; message: string; code?: string | undefined }
  /** Somebody has to choose first. */
  | { kind: "conflict"; message: string };

export class WriteError extends Error {
  override readonly name = "WriteError";
  constructor(readonly failure: WriteFailure) {
    super(failure.message);
  }
}

export type WriteState = { kind: "saved" } | { kind: "unsaved" } | { kind: "saving" } | (WriteFailure & { retryAt?: number });

export interface Timers {
  now(): number;
  /** Calls back later; returns what calls it off. */
  after(ms: number, run: () => void): () => void;
}

export interface WriteQueueOptions {
  isDirty(): boolean;
  /** Writes what is there now, once. @throws WriteError */
  write(): Promise<void>;
  /** False while nothing may be written: the tab is hidden. */
  mayWrite(): boolean;
  onState(state: WriteState): void;
  timers: Timers;
}

export interface WriteQueue {
  /** Something has changed. */
  touch(): void;
  /** Writes at once what is left; resolves when it is saved or can't be. */
  flush(): Promise<void>;
  /** What stood in the way may be gone: signed in again, online, visible, chosen. */
  retry(): void;
  close(): void;
}

export const QUIET_MS = 700;
const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 30_000;

/** One write at a time, a moment after the last change; what fails for a passing reason is tried again. */
export const createWriteQueue = ({ isDirty, write, mayWrite, onState, timers }: WriteQueueOptions): WriteQueue => {
  let running: Promise<void> | undefined;
  let cancelTimer = (): void => undefined;
  let failures = 0;
  let stopped = false;
  let closed = false;

  const schedule = (ms: number): void => {
    cancelTimer();
    cancelTimer = timers.after(ms, () => void run());
  };

  const fail = (failure: WriteFailure): void => {
    if (failure.kind !== "unreachable") {
      stopped = true;
      return onState(failure);
    }
    // "At once" is no answer to somebody who fails again and again.
    const wait = Math.max(failure.retryAfterMs ?? 0, Math.min(FIRST_BACK_OFF_MS * 2 ** failures, MAX_BACK_OFF_MS));
    failures += 1;
    onState({ ...failure, retryAt: timers.now() + wait });
    schedule(wait);
  };

  const writeAll = async (): Promise<void> => {
    while (isDirty() && !closed) {
      onState({ kind: "saving" });
      try {
        await write();
        failures = 0;
      } catch (error) {
        const failure: WriteFailure =
          error instanceof WriteError
            ? error.failure
            : { kind: "unreachable", message: error instanceof Error ? error.message : String(error) };
        return fail(failure);
      }
    }
    onState({ kind: "saved" });
  };

  const run = (force = false): Promise<void> => {
    if (running) return running;
    if (closed || stopped || !isDirty() || (!mayWrite() && !force)) return Promise.resolve();
    cancelTimer();
    running = writeAll().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    touch: () => {
      // A refusal was about what was there before; another kind of failure still stands.
      stopped = false;
      if (!running && failures === 0) onState({ kind: "unsaved" });
      if (!running && failures === 0) schedule(QUIET_MS);
    },
    flush: async () => {
      stopped = false;
      await run(true);
    },
    retry: () => {
      stopped = false;
      failures = 0;
      if (isDirty()) void run();
    },
    close: () => {
      closed = true;
      cancelTimer();
    },
  };
};
