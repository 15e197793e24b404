const { randomInt } = require("node:crypto");
const { createSocket } = require("node:dgram");
const { createServer } = require("node:net");

/*
 * For code that needs a port before its server starts, or restarts a server on the same port. Other code listens on port 0 and reads the
 * port. CommonJS, because tests also load it.
 */

/** Below the ephemeral range of operating systems, so that a free port stays free until it is bound. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;
const ATTEMPTS = 200;

/** Number of separate ranges for parallel test processes, so that few of them look for the same port. */
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

/**
 * Reserves a port until this process ends, even while its server is down: a UDP socket with the same number keeps other processes that use
 * this module from choosing the port. TCP servers can still use it, and the operating system closes the socket however the process ends.
 * @param {number} port @returns {Promise<import("node:dgram").Socket | undefined>} undefined if this or another process has reserved it
 */
const claimPort = (port) =>
  new Promise((resolve) => {
    const socket = createSocket("udp4").unref();
    socket.once("error", () => socket.close(() => resolve(undefined)));
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(socket));
  });

/** A free port of 127.0.0.1, reserved for this process. @param {number} [preferred] tried first @returns {Promise<number>} */
const freePort = async (preferred) => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = attempt === 0 && preferred !== undefined ? preferred : randomInt(lowest, highest);
    const claim = await claimPort(port);
    if (claim && (await isPortFree(port))) return port;
    claim?.close();
  }
  throw new Error("no free port on 127.0.0.1");
};

/**
 * Reserves a chosen port. A parent process may have reserved it for this one.
 * @param {number} port @returns {Promise<boolean>} true if nothing listens on it
 */
const reservePort = async (port) => {
  await claimPort(port);
  return isPortFree(port);
};

module.exports = { freePort, reservePort };
