import { setMaxListeners } from "node:events";

export interface LinkedSignal {
  signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Removes the link. Otherwise signals that live longer keep every link. */
  unlink(): void;
}

/** AbortSignal.any isn't used, because on Node 20 each of its signals leaves a permanent entry in a long-lived signal. */
export const linkSignals = (...parents: readonly AbortSignal[]): LinkedSignal => {
  const controller = new AbortController();
  const links = parents.map((parent) => ({ parent, follow: () => controller.abort(parent.reason) }));
  for (const { parent, follow } of links) {
    if (parent.aborted) follow();
    // Node 20 reports more than ten listeners as a leak, but all of these are removed.
    setMaxListeners(0, parent);
    parent.addEventListener("abort", follow, { once: true });
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => links.forEach(({ parent, follow }) => parent.removeEventListener("abort", follow)),
  };
};
