import { setMaxListeners } from "node:events";

/** A signal of its own that also follows others, until it is let go. */
export interface LinkedSignal {
  signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Stops following; must be called, or longer-lived parents keep every link. */
  unlink(): void;
}

/** Not AbortSignal.any: in Node 20 each of its signals leaves a trace in a long-lived one for ever. */
export const linkSignals = (...parents: readonly AbortSignal[]): LinkedSignal => {
  const controller = new AbortController();
  const links = parents.map((parent) => ({ parent, follow: () => controller.abort(parent.reason) }));
  for (const { parent, follow } of links) {
    if (parent.aborted) follow();
    // As many as there are: each is let go of. Node 20 takes more than ten for a leak.
    setMaxListeners(0, parent);
    parent.addEventListener("abort", follow, { once: true });
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => links.forEach(({ parent, follow }) => parent.removeEventListener("abort", follow)),
  };
};
