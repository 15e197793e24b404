import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Actor } from "../conformance/context";

/** Measurements of another user's requests. */
export interface Seen {
  /** Time of each request in milliseconds. */
  times: number[];
  refused: number;
}

/** Pause between another user's requests, with and without an attack, so that the user's share of the CPU is known. */
const PAUSE_MS = 20;

/** A user who keeps working, in a separate thread. */
export const startOther = (baseUrl: string, { key }: Actor) => {
  const workerData = { url: `${baseUrl}/api/workflows`, headers: { "x-api-key": key }, pauseMs: PAUSE_MS };
  const worker = new Worker(join(__dirname, "other-thread.cjs"), { workerData });
  let doneCount = 0;
  return {
    /** Starts the work: at least this number of requests, until `end` is called. */
    begin: (atLeast: number) => {
      doneCount = 0;
      const result = new Promise<Seen>((resolve, reject) => {
        worker.once("error", reject);
        const listen = (message: Seen | { done: number }): void => {
          if ("done" in message) return void (doneCount = message.done);
          worker.off("message", listen).off("error", reject);
          resolve(message);
        };
        worker.on("message", listen);
      });
      worker.postMessage({ begin: atLeast });
      return {
        done: () => doneCount,
        end: (): Promise<Seen> => {
          worker.postMessage({ end: true });
          return result;
        },
      };
    },
    stop: () => worker.terminate(),
  };
};

export type Other = ReturnType<typeof startOther>;
