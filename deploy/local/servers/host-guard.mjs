import { randomInt } from "node:crypto";
import { createServer, request as httpRequest } from "node:http";
import { listenOnLoopback } from "./loopback.mjs";

const LOOPBACK = "127.0.0.1";
const MISDIRECTED = 421;
const BAD_GATEWAY = 502;
/** Valid octets without a network's first and last address. */
const [FIRST_OCTET, OCTETS_END] = [1, 255];

/**
 * A loopback address for a server that only this process may reach. On Linux it is one of the millions in 127.0.0.0/8, which can't be
 * guessed. Other systems have a single address, and only the port is unknown.
 */
export const hiddenLoopback = () =>
  process.platform === "linux" ? `127.${[1, 2, 3].map(() => randomInt(FIRST_OCTET, OCTETS_END)).join(".")}` : LOOPBACK;

/** @param {import("node:http").ServerResponse} response @param {number} status @param {string} text */
const refuse = (response, status, text) => {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
};

/**
 * Proxies to a server that accepts any Host header, and checks that header. A foreign page whose name resolves to this address (DNS
 * rebinding) sends its own name and is rejected.
 * @param {{ port: number, target: { host: string, port: number } }} options `port`: loopback port of the guard
 * @returns {Promise<{ stop: () => Promise<void> }>}
 */
export const startHostGuard = async ({ port, target }) => {
  const allowedHosts = new Set(["127.0.0.1", "localhost", "[::1]"].map((host) => `${host}:${port}`));
  const server = createServer((incoming, response) => {
    if (!allowedHosts.has(incoming.headers.host?.toLowerCase() ?? ""))
      return refuse(response, MISDIRECTED, "this address is not served here");
    const { method, url, headers } = incoming;
    const outgoing = httpRequest({ ...target, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? BAD_GATEWAY, answer.rawHeaders);
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on("error", () => refuse(response, BAD_GATEWAY, "the server behind this address does not answer"));
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  return listenOnLoopback(server, port, () => server.closeAllConnections());
};
