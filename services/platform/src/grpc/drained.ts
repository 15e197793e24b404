import type { Writable } from "node:stream";

const ENDS = ["drain", "close", "cancelled", "status"] as const;

/** Resolves when a stream takes more data, or when its reader is gone. */
export const drained = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    const resume = (): void => {
      for (const event of ENDS) stream.off(event, resume);
      resolve();
    };
    for (const event of ENDS) stream.on(event, resume);
  });
