import { createServer, request } from "node:http";

/**
 * A reverse proxy that adds a key, because the conformance suite sends none. Its own address in `Host` and `Origin` becomes the gateway's,
 * and every other value stays.
 * @param {string} baseUrl the gateway's @param {string} key
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export const startFront = async (baseUrl, key) => {
  const target = new URL(baseUrl);
  let port = 0;
  const isOwn = (/** @type {string} */ host) => ["localhost", "127.0.0.1", "[::1]"].some((name) => host === `${name}:${port}`);
  const server = createServer((incoming, outgoing) => {
    const { host = "", origin, ...rest } = incoming.headers;
    const headers = {
      ...rest,
      host: isOwn(host) ? target.host : host,
      ...(origin === undefined ? {} : { origin: isOwn(origin.replace(/^http:\/\//, "")) ? target.origin : origin }),
      authorization: `Bearer ${key}`,
    };
    const forwarded = request(
      { hostname: target.hostname, port: target.port, method: incoming.method, path: incoming.url, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await /** @type {Promise<void>} */ (new Promise((resolve) => server.listen(0, "127.0.0.1", resolve)));
  port = /** @type {import("node:net").AddressInfo} */ (server.address()).port;
  return {
    url: `http://localhost:${port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
