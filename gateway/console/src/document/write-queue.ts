/** Reason why a write failed, which decides the next step. */
export type WriteFailure =
  /** No response, or the service is busy: retried automatically. */
  | { kind: "unreachable"; message: string; retryAfterMs?: number | undefined }
  /** Signed out: retried after `retry`. */
  | { kind: "signed-out"; message: string }
  /** Rejected: retried with the next change. */
  | { kind: "refused"; message: string; code?: string | undefined }
  /** A person must choose first. */
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
  /** Schedules a call; returns its cancellation. */
  after(ms: number, run: () => void): () => void;
}

export interface WriteQueueOptions {
  isDirty(): boolean;
  /** Writes the current state once. @throws WriteError */
  write(): Promise<void>;
  /** False while the tab is hidden. */
  mayWrite(): boolean;
  onState(state: WriteState): void;
  timers: Timers;
}

export interface WriteQueue {
  /** Reports a change to the document. */
  touch(): void;
  /** Writes unsaved changes at once. Resolves when they are saved or can't be saved. */
  flush(): Promise<void>;
  /** Reports a change that can help: signed in, online, visible, or a conflict resolved. */
  retry(): void;
  close(): void;
}

export const QUIET_MS = 700;
const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 30_000;

/** Writes one at a time, shortly after the last change, and retries temporary failures. */
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
    // A service that keeps failing is never retried at once, even with `Retry-After: 0`.
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
      // A rejection concerned the earlier state; other failures remain.
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
