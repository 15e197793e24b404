import { createServer } from "node:net";

/** @param {number} port @param {string} [host] @returns {Promise<number | undefined>} */
const bindOnce = (port, host = "127.0.0.1") =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : undefined));
    });
  });

/** Ports handed out and perhaps not bound yet. */
const handedOut = new Set();

/** A port that nothing listens on and that this process has not handed out before. @returns {Promise<number>} */
export const freePort = async () => {
  for (;;) {
    const port = await bindOnce(0);
    if (port === undefined) throw new Error("no free port on 127.0.0.1");
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    return port;
  }
};

/** @param {number} port @returns {Promise<boolean>} */
export const isPortFree = async (port) => (await bindOnce(port)) !== undefined;
