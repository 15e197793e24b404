/** A signal of its own that also follows a longer-lived one, until it is let go. */
export interface LinkedSignal {
  signal: AbortSignal;
  abort(): void;
  /** Stops following; must be called, or the parent keeps every link. */
  unlink(): void;
}

export const linkSignal = (parent: AbortSignal): LinkedSignal => {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (parent.aborted) abort();
  parent.addEventListener("abort", abort, { once: true });
  return { signal: controller.signal, abort, unlink: () => parent.removeEventListener("abort", abort) };
};
