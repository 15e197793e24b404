import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** What undici reads the answer of a connection with. Inner to it: `http.test.ts` fails when that changes. */
interface Parser {
  paused: boolean;
  resume(): void;
  ptr: number;
  llhttp: { llhttp_resume(ptr: number): void };
}

/**
 * Connects as undici does. A server that ends its connection while its answer waits to be read must not end the process: undici 6 and
 * 7 assert that no answer is paused then (nodejs/undici#5360; mended in 8, which needs Node.js 22). All that will come has come, so
 * that the parser goes on with it before undici hears of the end.
 */
export const createConnector = (options: buildConnector.BuildOptions): buildConnector.connector => {
  const undici = require("undici") as typeof import("undici");
  const { kParser } = require("undici/lib/core/symbols") as { kParser: keyof Socket };
  const connect = undici.buildConnector(options);
  return (target, callback) =>
    connect(target, (...result) => {
      const [, socket] = result;
      const pausedParser = (): Parser | undefined => {
        const parser = socket?.[kParser] as Parser | null | undefined;
        return parser?.paused ? parser : undefined;
      };
      socket?.prependListener("end", () => {
        pausedParser()?.resume();
        // A body without a length ends with its connection: the parser waits for that, and no longer for its reader.
        const parser = pausedParser();
        if (!parser) return;
        parser.llhttp.llhttp_resume(parser.ptr);
        parser.paused = false;
      });
      callback(...result);
    });
};
