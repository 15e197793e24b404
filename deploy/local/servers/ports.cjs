const { randomInt } = require("node:crypto");
const { createServer } = require("node:net");

/*
 * For those who must know a port before its server is there, or start a server again on the same one; all others listen on port 0 and ask.
 * CommonJS, because tests load it, too.
 */

/** Below the operating systems' ephemeral range, so that a free port stays free until it is bound. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const ATTEMPTS = 200;

/** Parallel test processes choose from separate ranges: a port stays free until it is bound. */
const RANGES = 4;
const SHARE = (HIGHEST_PORT - LOWEST_PORT) / RANGES;
const worker = process.env.JEST_WORKER_ID;
const lowest = worker === undefined ? LOWEST_PORT : LOWEST_PORT + (Number(worker) % RANGES) * SHARE;
const highest = worker === undefined ? HIGHEST_PORT : lowest + SHARE;

/** @param {number} port @returns {Promise<boolean>} */
const isPortFree = (port) =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });

/** Ports handed out, possibly not bound yet. */
const handedOut = new Set();

/** A free port of 127.0.0.1 that this process hasn't handed out. @returns {Promise<number>} */
const freePort = async () => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isPortFree(port)) return port;
  }
  throw new Error("no free port on 127.0.0.1");
};

/** Reserves a given port. @param {number} port @returns {Promise<boolean>} whether nothing listens on it */
const reservePort = (port) => {
  handedOut.add(port);
  return isPortFree(port);
};

module.exports = { freePort, isPortFree, reservePort };
