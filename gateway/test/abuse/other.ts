import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Actor } from "../conformance/context";

/** Measurements of another user's requests. */
export interface Timings {
  /** Time of each request in milliseconds. */
  times: number[];
  refusals: number;
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
      const result = new Promise<Timings>((resolve, reject) => {
        worker.once("error", reject);
        const listen = (message: Timings | { doneCount: number }): void => {
          if ("doneCount" in message) return void (doneCount = message.doneCount);
          worker.off("message", listen).off("error", reject);
          resolve(message);
        };
        worker.on("message", listen);
      });
      worker.postMessage({ begin: atLeast });
      return {
        doneCount: () => doneCount,
        end: (): Promise<Timings> => {
          worker.postMessage({ end: true });
          return result;
        },
      };
    },
    stop: () => worker.terminate(),
  };
};

export type Other = ReturnType<typeof startOther>;
