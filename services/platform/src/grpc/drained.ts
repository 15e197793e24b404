import type { Writable } from "node:stream";

const ENDS = ["drain", "close", "cancelled", "status"] as const;

/** Resolves when a stream accepts more data or its reader disconnects. */
export const drained = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    const resume = (): void => {
      for (const event of ENDS) stream.off(event, resume);
      resolve();
    };
    for (const event of ENDS) stream.on(event, resume);
  });
