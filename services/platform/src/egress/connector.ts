import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** undici's parser of a connection's responses. It is internal to undici, and `http.test.ts` fails if it changes. */
interface Parser {
  paused: boolean;
  resume(): void;
  ptr: number;
  llhttp: { llhttp_resume(ptr: number): void };
}

/**
 * Connects as undici does, except if a server closes its connection while the response waits to be read. In that case undici 6 and 7 end
 * the process with an assertion (nodejs/undici#5360; fixed in 8, which needs Node.js 22). Because no more data can arrive, the parser is
 * resumed before undici handles the end.
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
        // A body without a length ends with its connection. The parser must wait for the end, not for the reader.
        const parser = pausedParser();
        if (!parser) return;
        parser.llhttp.llhttp_resume(parser.ptr);
        parser.paused = false;
      });
      callback(...result);
    });
};
