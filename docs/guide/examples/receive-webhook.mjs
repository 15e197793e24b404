// Receives one webhook, checks its signature without any library, says what it found and ends.
//
//   node docs/guide/examples/receive-webhook.mjs <host:port> <whsec_…>
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const TOLERANCE_SECONDS = 5 * 60;
const PATIENCE_MS = 120_000;

/** Whether one of the signatures is right and the message is fresh. `body` must be the very bytes that came in. */
export const isGenuine = (secret, headers, body) => {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < TOLERANCE_SECONDS)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // There are several signatures for a while after the secret was replaced.
  return String(headers["webhook-signature"])
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => Buffer.from(signature.slice("v1,".length), "base64"))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
};

const [address = "", secret = ""] = process.argv.slice(2);
if (!/^[^:]+:\d+$/.test(address) || !secret.startsWith("whsec_")) {
  process.stderr.write("Usage: node receive-webhook.mjs <host:port> <whsec_…>\n");
  process.exit(2);
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const genuine = isGenuine(secret, request.headers, body);
  response.writeHead(genuine ? 204 : 401, { connection: "close" }).end();
  if (genuine) {
    const { type, data } = JSON.parse(body.toString());
    process.stdout.write(`signature is right: ${type} of ${data.executionId}\n`);
  } else {
    process.stdout.write("signature is WRONG\n");
    process.exitCode = 1;
  }
  server.close();
  clearTimeout(patience);
});

const [host, port] = address.split(":");
server.listen(Number(port), host);
const patience = setTimeout(() => {
  process.stderr.write(`nothing came within ${PATIENCE_MS / 1000} s\n`);
  process.exit(1);
}, PATIENCE_MS);
