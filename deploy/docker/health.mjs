// Health check of a container: sends a request to its process on the operations port. Usage: node health.mjs. Exits with 0 if the process
// is ready.
import { get } from "node:http";

const DEADLINE_MS = 4_000;
const HTTP_OK = 200;
const VARIABLE = "OPS_LISTEN";

/** @param {string} message */
const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

const port = process.env[VARIABLE]?.split(":").at(-1);
if (!port) fail(`expected ${VARIABLE}, set to host:port`);
const request = get({ host: "127.0.0.1", port, path: "/readyz", timeout: DEADLINE_MS }, ({ statusCode }) => {
  if (statusCode === HTTP_OK) process.exit(0);
  fail(`/readyz answers ${statusCode}`);
});
request.on("timeout", () => request.destroy(new Error("/readyz does not answer in time")));
request.on("error", ({ message }) => fail(message));
