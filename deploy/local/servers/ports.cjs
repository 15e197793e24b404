const { randomInt } = require("node:crypto");
const { createServer } = require("node:net");

/*
 * For code that needs a port before its server starts, or restarts a server on the same port. Other code listens on port 0 and reads the
 * port. CommonJS, because tests also load it.
 */

/** Below the ephemeral range of operating systems, so that a free port stays free until it is bound. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const ATTEMPTS = 200;

/** Number of separate ranges for parallel test processes, so that a port stays free until it is bound. */
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

/** Ports returned so far; some may not be bound yet. */
const handedOut = new Set();

/** A free port of 127.0.0.1 that this process hasn't returned before. @returns {Promise<number>} */
const freePort = async () => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isPortFree(port)) return port;
  }
  throw new Error("no free port on 127.0.0.1");
};

/** Reserves a port. @param {number} port @returns {Promise<boolean>} true if nothing listens on it */
const reservePort = (port) => {
  handedOut.add(port);
  return isPortFree(port);
};

module.exports = { freePort, isPortFree, reservePort };
