import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Starts an HTTP server on loopback that gets each request with its body.
 * @param {(request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse, body: string) => void} answer
 */
export const serve = async (answer) => {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text) => (body += text));
    request.on("end", () => answer(request, response, body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const address = `127.0.0.1:${port}`;
  return { address, url: `http://${address}`, close: () => void server.close() };
};
