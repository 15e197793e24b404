import { execFile } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../local/paths.mjs";
import { startChild } from "../../local/run/child.mjs";
import { seedAccounts } from "../../local/seed/accounts.mjs";
import { createClient } from "../../local/seed/client.mjs";
import { createReplica, nodeCommand } from "./replica.mjs";
import { startServers } from "./servers.mjs";
import { portOf, SERVICES } from "./services.mjs";
import "./names.cjs";

/**
 * Starts several replicas per service on one machine, each at its own loopback address (Linux), with mutual TLS and names that resolve to
 * ready replicas. This resembles a cluster as closely as one machine allows.
 */

const PROBE_EVERY_MS = 500;
/** Equals the chart's failureThreshold. */
const FAILED_PROBES = 2;
/** Replicas of one service have neighbouring addresses. */
const MOST_REPLICAS = 10;
const SECRET_BYTES = 32;
/** Services that always have a single replica. */
const SINGLE = ["sandbox"];

/**
 * @typedef {import("./replica.mjs").Replica} Replica
 * @typedef {import("./replica.mjs").MakeCommand} MakeCommand
 */

/**
 * Writes a file with the addresses of ready replicas by service, from probes like a kubelet's. A replica is removed after FAILED_PROBES
 * unanswered probes in a row, or at once if it reports not ready or has ended.
 * @param {string} file @param {Replica[]} replicas
 */
const watchEndpoints = (file, replicas) => {
  /** @type {Set<Replica>} */
  const listed = new Set();
  /** Consecutive unanswered probes. @type {Map<Replica, number>} */
  const silences = new Map();
  /** @type {Map<Replica, Promise<void>>} */
  const looking = new Map();
  const publish = () => {
    /** @type {Record<string, string[]>} */
    const names = {};
    for (const replica of replicas) (names[replica.service] ??= []).push(...(listed.has(replica) ? [replica.ip] : []));
    writeFileSync(`${file}.draft`, JSON.stringify(names));
    renameSync(`${file}.draft`, file);
  };
  /** @param {Replica} replica */
  const lookAt = async (replica) => {
    const state = await replica.probe();
    const silence = state === "silent" ? (silences.get(replica) ?? 0) + 1 : 0;
    silences.set(replica, silence);
    if (silence > 0 && silence < FAILED_PROBES) return;
    if (state === "ready") listed.add(replica);
    else listed.delete(replica);
    publish();
  };
  const lookAtAll = () => {
    for (const replica of replicas)
      if (!looking.has(replica))
        looking.set(
          replica,
          lookAt(replica).finally(() => looking.delete(replica)),
        );
    return Promise.all(looking.values());
  };
  const timer = setInterval(() => void lookAtAll(), PROBE_EVERY_MS);
  return {
    /** Resolves after each replica was probed once more. */
    look: async () => {
      await Promise.all(looking.values());
      await lookAtAll();
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all(looking.values());
    },
  };
};

const makeSecrets = () => {
  const secret = () => randomBytes(SECRET_BYTES).toString("hex");
  return {
    API_KEY_PEPPER: secret(),
    SESSION_SECRET: secret(),
    SANDBOX_API_KEY: secret(),
    SANDBOX_CONTROL_KEY: secret(),
    SECRETS_KEYS: secret(),
    MEDIA_URL_KEYS: secret(),
    TEMPORAL_PAYLOAD_KEYS: secret(),
    BOOTSTRAP_ADMIN_EMAIL: "admin@nodeloom.local",
    BOOTSTRAP_ADMIN_PASSWORD: secret(),
    ACCOUNT_PASSWORD: secret(),
  };
};

/**
 * Settings that differ from the chart's.
 * @param {import("./servers.mjs").Servers} servers @param {string} folder @param {ReturnType<typeof makeSecrets>} secrets
 */
const ownSettings = (servers, folder, secrets) => {
  const { ACCOUNT_PASSWORD: _, ...values } = secrets;
  const sandbox = `sandbox:${portOf("sandbox", "SANDBOX_LISTEN")}`;
  return {
    ...values,
    // Allows sessions without https.
    NODE_ENV: "development",
    LOG_LEVEL: "warn",
    PUBLIC_BASE_URL: `http://gateway:${portOf("gateway", "GATEWAY_LISTEN")}`,
    SANDBOX_URL: `http://${sandbox}`,
    PROVIDER_EGRESS_ALLOW: sandbox,
    MONGODB_URI: servers.mongoUri(),
    REDIS_URL: servers.redisUrl(),
    TEMPORAL_ADDRESS: servers.temporalAddress(),
    MEDIA_DIR: join(folder, "media"),
    SANDBOX_DATA_DIR: join(folder, "sandbox"),
    TRANSFORM_DIR: join(folder, "transform"),
    REGISTRATION_RATE_LIMIT: "300",
  };
};

/**
 * Creates indexes and search attributes, like the chart's job.
 * @param {MakeCommand} command @param {Record<string, string>} env @param {string} folder
 */
const migrate = async (command, env, folder) => {
  const child = await startChild(await command({ main: "services/migrate", env, folder }));
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`migrate exits with ${code}:\n${child.tail()}`);
};

/**
 * @param {{ replicas?: number, env?: Record<string, string>, owner?: number, command?: MakeCommand, say?: (line: string) => void }} [options]
 */
export const startCluster = async ({ replicas: count = 2, env = {}, owner, command = nodeCommand, say = () => {} } = {}) => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-cluster-"));
  const [certificates, logs, names] = [join(folder, "certificates"), join(folder, "logs"), join(folder, "names.json")];
  for (const path of [logs, join(folder, "media"), join(folder, "sandbox")]) await mkdir(path);
  await writeFile(names, "{}");
  process.env.NODELOOM_NAMES = names;
  await promisify(execFile)(join(ROOT, "deploy", "docker", "make-certs.sh"), [
    join(folder, "authority"),
    certificates,
    ...Object.keys(SERVICES),
  ]);
  if (owner !== undefined) await promisify(execFile)("chown", ["-R", `${owner}:${owner}`, folder]);
  const servers = await startServers(join(folder, "data"));
  const secrets = makeSecrets();
  const network = `127.${randomInt(2, 250)}.${randomInt(0, 250)}`;
  const changes = { ...env };
  const settings = () => ({ ...ownSettings(servers, folder, secrets), NODELOOM_NAMES: names, ...changes });
  /** @param {string} service @param {number} number */
  const replicaOf = (service, number) => {
    const ip = `${network}.${Object.keys(SERVICES).indexOf(service) * MOST_REPLICAS + number}`;
    return createReplica({ service, number, ip, env: settings, folder, command });
  };
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const replicas = Object.keys(SERVICES).flatMap((service) =>
    (SINGLE.includes(service) ? [1] : numbers).map((number) => replicaOf(service, number)),
  );
  const endpoints = watchEndpoints(names, replicas);
  const stop = async () => {
    await endpoints.stop();
    const callersFirst = [...replicas].sort((one, other) => Number(other.service === "gateway") - Number(one.service === "gateway"));
    await Promise.allSettled(callersFirst.map((replica) => replica.stop()));
    await servers.stop();
    if (process.env.NODELOOM_KEEP === undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    await migrate(command, settings(), folder);
    // A few at a time, because each start uses a whole core.
    for (const service of Object.keys(SERVICES))
      await Promise.all(replicas.filter((one) => one.service === service).map((one) => one.start()));
    await endpoints.look();
    const baseUrl = `http://gateway:${portOf("gateway", "GATEWAY_LISTEN")}`;
    const accounts = await seedAccounts({ client: createClient(baseUrl), secrets: /** @type {any} */ (secrets), known: {} });
    say(`${replicas.length} processes run, ${count} of each service; logs in ${logs}`);
    return {
      baseUrl,
      folder,
      accounts,
      replicas,
      servers,
      endpoints,
      /** @param {string} service */
      of: (service) => replicas.filter((one) => one.service === service),
      /** Adds a replica of a service and publishes its address. @param {string} service */
      join: async (service) => {
        const joined = replicaOf(service, replicas.filter((one) => one.service === service).length + 1);
        await joined.start();
        replicas.push(joined);
        return joined;
      },
      /** Changes settings of processes started from now on. @param {Record<string, string>} change */
      change: (change) => Object.assign(changes, change),
      migrate: () => migrate(command, settings(), folder),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
