import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

/** A webhook receiver that records everything and rejects every seventh first attempt. */
export const createReceiver = async () => {
  /** @type {{ id: string, timestamp: string, signature: string, body: string }[]} */
  const received = [];
  let count = 0;
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = request.headers;
      received.push({ id: String(id), timestamp: String(timestamp), signature: String(signature), body: Buffer.concat(chunks).toString() });
      count += 1;
      response.writeHead(count % 7 === 0 ? 500 : 204).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    address: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    /** @param {{ id: string, timestamp: string, signature: string, body: string }} delivery @param {string} secret */
    isSigned: ({ id, timestamp, signature, body }, secret) => {
      const expected = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
        .update(`${id}.${timestamp}.${body}`)
        .digest("base64");
      return signature.split(" ").includes(`v1,${expected}`);
    },
    close: () => server.close(),
  };
};
