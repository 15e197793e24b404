import { setMaxListeners } from "node:events";

export interface LinkedSignal {
  signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Stops following. Without the call, longer-lived signals keep every link. */
  unlink(): void;
}

/** AbortSignal.any is not used: in Node 20 each of its signals leaves a trace in a long-lived one for ever. */
export const linkSignals = (...parents: readonly AbortSignal[]): LinkedSignal => {
  const controller = new AbortController();
  const links = parents.map((parent) => ({ parent, follow: () => controller.abort(parent.reason) }));
  for (const { parent, follow } of links) {
    if (parent.aborted) follow();
    // Node 20 takes more than ten listeners for a leak; these are all removed.
    setMaxListeners(0, parent);
    parent.addEventListener("abort", follow, { once: true });
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => links.forEach(({ parent, follow }) => parent.removeEventListener("abort", follow)),
  };
};
