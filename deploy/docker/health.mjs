// Asks the servers of the container it runs in whether they are well: node health.mjs grpc:BILLING_LISTEN http:GATEWAY_LISTEN
// Each argument names a protocol and the variable that says where the server listens. Exits 0 when all are well.
import { readFileSync } from "node:fs";
import { get } from "node:http";
import grpc from "@grpc/grpc-js";

const DEADLINE_MS = 4_000;
const HTTP_OK = 200;
/** grpc.health.v1.HealthCheckResponse with its only field, status = SERVING. */
const SERVING = Buffer.from([0x08, 0x01]);

const credentials = () => {
  const { TLS_CA_FILE, TLS_KEY_FILE, TLS_CERT_FILE } = process.env;
  if (!TLS_CA_FILE || !TLS_KEY_FILE || !TLS_CERT_FILE) return grpc.credentials.createInsecure();
  return grpc.credentials.createSsl(readFileSync(TLS_CA_FILE), readFileSync(TLS_KEY_FILE), readFileSync(TLS_CERT_FILE));
};

/** @param {string} port */
const askGrpc = (port) =>
  new Promise((resolve, reject) => {
    const client = new grpc.Client(`127.0.0.1:${port}`, credentials(), { "grpc.ssl_target_name_override": "localhost" });
    client.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      () => Buffer.alloc(0),
      (/** @type {Buffer} */ bytes) => bytes,
      {},
      { deadline: Date.now() + DEADLINE_MS },
      (/** @type {Error | null} */ error, /** @type {Buffer | undefined} */ reply) => {
        client.close();
        if (error) reject(error);
        else if (reply?.equals(SERVING)) resolve(undefined);
        else reject(new Error("not serving"));
      },
    );
  });

/** @param {string} port */
const askHttp = (port) =>
  new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, path: "/readyz", timeout: DEADLINE_MS }, (response) => {
      response.resume();
      if (response.statusCode === HTTP_OK) resolve(undefined);
      else reject(new Error(`/readyz answers ${response.statusCode}`));
    });
    request.on("timeout", () => request.destroy(new Error("/readyz does not answer in time")));
    request.on("error", reject);
  });

/** @type {Record<string, (port: string) => Promise<unknown>>} */
const ASK = { grpc: askGrpc, http: askHttp };

/** @param {string} probe */
const check = async (probe) => {
  const [protocol = "", variable = ""] = probe.split(":");
  const port = process.env[variable]?.split(":").at(-1);
  const ask = ASK[protocol];
  if (ask === undefined || !port) throw new Error(`${probe}: expected grpc:VARIABLE or http:VARIABLE, with the variable set to host:port`);
  await ask(port).catch((/** @type {Error} */ error) => {
    throw new Error(`${probe}: ${error.message}`);
  });
};

const probes = process.argv.slice(2);
if (probes.length === 0) throw new Error("nothing to check");
const results = await Promise.allSettled(probes.map(check));
for (const result of results) if (result.status === "rejected") process.stderr.write(`${result.reason.message}\n`);
process.exit(results.every(({ status }) => status === "fulfilled") ? 0 : 1);
