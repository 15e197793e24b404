import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../paths.mjs";
import { formerBaseUrlsAfter } from "../platform/local-file.mjs";
import { MALLOC, stopGraceMs, V8_FLAGS } from "../run/node-process.mjs";
import { chooseListens, groupEnvironment, processGroups, SERVICE_NAMES } from "../run/processes.mjs";

const SECRETS = {
  API_KEY_PEPPER: "pepper",
  SECRETS_KEYS: "keys of secrets",
  MEDIA_URL_KEYS: "keys of addresses",
  SESSION_SECRET: "session",
  SANDBOX_API_KEY: "sandbox",
  SANDBOX_CONTROL_KEY: "control",
  INFERENCE_API_KEY: "inference",
  BOOTSTRAP_ADMIN_EMAIL: "admin@example.com",
  BOOTSTRAP_ADMIN_PASSWORD: "password",
  ACCOUNT_PASSWORD: "accounts",
  STRIPE_SECRET_KEY: "stripe",
  STRIPE_WEBHOOK_SECRET: "",
  PROVENANCE_CERTIFICATE: "certificate",
  PROVENANCE_KEY: "",
};

/** @param {NodeJS.ProcessEnv} [env] */
const platformOf = async (env = {}) => ({
  listens: await chooseListens(env),
  secrets: SECRETS,
  mongoUri: "mongodb://127.0.0.1:1",
  redisUrl: "redis://127.0.0.1:2",
  temporalAddress: "127.0.0.1:3",
  temporalUiUrl: undefined,
});

/** Occupies a port during `work`. @param {(port: number) => Promise<void>} work */
const withTakenPort = async (work) => {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  try {
    await work(address.port);
  } finally {
    server.close();
  }
};

test("every service runs in exactly one process, however they are hosted", () => {
  for (const hosting of ["shared", "separate"]) {
    const hosted = Object.values(processGroups({ NODELOOM_HOSTING: hosting })).flat();
    assert.deepEqual([...hosted].sort(), [...SERVICE_NAMES].sort());
  }
  assert.throws(() => processGroups({ NODELOOM_HOSTING: "both" }), /shared or separate/);
});

test("files of results from before a change of the port are found: every process knows the earlier addresses", async () => {
  const last = { baseUrl: "http://127.0.0.1:8080", formerBaseUrls: ["http://127.0.0.1:31000", "http://127.0.0.1:8080"] };
  const platform = { ...(await platformOf()), formerBaseUrls: formerBaseUrlsAfter(last) };
  const env = groupEnvironment({ services: ["gateway"], platform, env: { FORMER_PUBLIC_BASE_URLS: "https://old.example" } });
  assert.equal(env.FORMER_PUBLIC_BASE_URLS, "https://old.example,http://127.0.0.1:8080,http://127.0.0.1:31000");
  assert.deepEqual(formerBaseUrlsAfter(undefined), []);
});

test("every listener gets a unique address, and a configured one is kept", async () => {
  const { listens } = await platformOf({ BILLING_LISTEN: "127.0.0.1:31999" });
  assert.equal(new Set(Object.values(listens)).size, Object.keys(listens).length);
  assert.equal(listens.BILLING_LISTEN, "127.0.0.1:31999");
});

test("a configured port in use is rejected by name", async () => {
  await withTakenPort(async (port) => {
    await assert.rejects(chooseListens({ PORT: String(port) }), new RegExp(`PORT asks for port ${port}, which is taken`));
    await assert.rejects(chooseListens({ MEDIA_LISTEN: `127.0.0.1:${port}` }), /MEDIA_LISTEN/);
  });
});

test("no process is killed while it finishes its work", async () => {
  const platform = await platformOf();
  for (const hosting of ["shared", "separate"]) {
    for (const services of Object.values(processGroups({ NODELOOM_HOSTING: hosting }))) {
      for (const variables of [{}, { SHUTDOWN_GRACE_MS: "300000", DRAIN_MS: "4000" }]) {
        const env = groupEnvironment({ services, platform, env: variables });
        const own = Number(env.DRAIN_MS ?? 0) + Number(env.SHUTDOWN_GRACE_MS ?? 15_000);
        assert.ok(stopGraceMs(env) > own, `${services} would be killed after ${stopGraceMs(env)} ms, and takes ${own} ms`);
      }
    }
  }
  const executions = groupEnvironment({ services: ["executions"], platform, env: {} });
  // Equals the compose file and the chart.
  assert.equal(executions.SHUTDOWN_GRACE_MS, "120000");
  assert.equal(groupEnvironment({ services: ["gateway"], platform, env: {} }).SHUTDOWN_GRACE_MS, undefined);
});

test("a secret reaches only the processes that need it", async () => {
  const platform = await platformOf();
  const gateway = groupEnvironment({ services: ["gateway"], platform, env: { API_KEY_PEPPER: "from outside", PATH: "/bin" } });
  assert.equal(gateway.SESSION_SECRET, "session");
  assert.equal(gateway.API_KEY_PEPPER, undefined);
  assert.equal(gateway.PATH, "/bin");
  const identity = groupEnvironment({ services: ["identity"], platform, env: {} });
  assert.equal(identity.API_KEY_PEPPER, "pepper");
  assert.equal(identity.SESSION_SECRET, undefined);
  const variables = { STRIPE_SECRET_KEY: "stripe", STRIPE_WEBHOOK_SECRET: "" };
  const holders = SERVICE_NAMES.filter((name) => {
    const env = groupEnvironment({ services: [name], platform, env: variables });
    return env.STRIPE_SECRET_KEY !== undefined || env.STRIPE_WEBHOOK_SECRET !== undefined;
  });
  assert.deepEqual(holders, ["billing"]);
  const media = groupEnvironment({ services: ["media"], platform, env: { PROVENANCE_CERTIFICATE: "certificate" } });
  assert.equal(media.PROVENANCE_CERTIFICATE, "certificate");
  assert.equal("PROVENANCE_KEY" in media, false);
});

test("every process knows the addresses of the others", async () => {
  const platform = await platformOf();
  const environment = groupEnvironment({ services: ["executions"], platform, env: {} });
  assert.equal(environment.BILLING_ADDRESS, platform.listens.BILLING_LISTEN);
  assert.equal(environment.BILLING_LISTEN, undefined);
});

test("only providers reach the sandbox and local models; users reach allowed outside addresses", async () => {
  const platform = await platformOf();
  const egressOf = (/** @type {NodeJS.ProcessEnv} */ env) => {
    const { PROVIDER_EGRESS_ALLOW, USER_EGRESS_ALLOW } = groupEnvironment({ services: ["executions"], platform, env });
    return [PROVIDER_EGRESS_ALLOW, USER_EGRESS_ALLOW];
  };
  const own = `${platform.listens.SANDBOX_LISTEN},${platform.listens.INFERENCE_LISTEN}`;
  assert.deepEqual(egressOf({}), [own, ""]);
  assert.deepEqual(egressOf({ EGRESS_ALLOW: "127.0.0.1:9" }), [own, "127.0.0.1:9"]);
  assert.deepEqual(egressOf({ PROVIDER_EGRESS_ALLOW: "127.0.0.1:8", USER_EGRESS_ALLOW: "127.0.0.1:9" }), [
    `${own},127.0.0.1:8`,
    "127.0.0.1:9",
  ]);
});

test("LOCAL_MODELS=off disables local models", async () => {
  const platform = await platformOf();
  const urlOf = (/** @type {NodeJS.ProcessEnv} */ env) => groupEnvironment({ services: ["models"], platform, env }).INFERENCE_URL;
  assert.equal(urlOf({}), `http://${platform.listens.INFERENCE_LISTEN}`);
  assert.equal(urlOf({ LOCAL_MODELS: "off" }), undefined);
});

test("the image and the launcher run processes with the same engine and allocator settings", async () => {
  const dockerfile = await readFile(join(ROOT, "deploy", "docker", "Dockerfile"), "utf8");
  const runtime = dockerfile.slice(dockerfile.indexOf(" AS runtime"));
  const [entrypoint] = /^ENTRYPOINT (.*)$/m.exec(runtime)?.slice(1) ?? [];
  assert.deepEqual(JSON.parse(entrypoint ?? "null"), ["node", ...V8_FLAGS]);
  for (const [name, value] of Object.entries(MALLOC))
    assert.ok(new RegExp(`^(ENV| {3}) .*\\b${name}=${value}( |$)`, "m").test(runtime), name);
});
