import { join } from "node:path";
import { folderOf, serviceOf, SERVICES } from "../../services.cjs";
import { EXECUTIONS_DIR, INFERENCE_DIR, MEDIA_DIR, ROOT, SANDBOX_DIR, TRANSFORM_DIR } from "../paths.mjs";
import { freePort, reservePort } from "../servers/ports.cjs";

export const SERVICE_NAMES = SERVICES.map(({ name }) => name);

/** Variable with the main address of a service. @param {string} name */
export const listenOf = (name) => `${name.toUpperCase()}_LISTEN`;

/**
 * Services by OS process. Services with the same host in the table share a process, which starts faster and needs less memory.
 * @param {NodeJS.ProcessEnv} env NODELOOM_HOSTING=separate gives each service its own process
 * @returns {Record<string, string[]>}
 */
export const processGroups = (env) => {
  const hosting = env.NODELOOM_HOSTING || "shared";
  if (hosting !== "shared" && hosting !== "separate") throw new Error(`NODELOOM_HOSTING must be shared or separate, not ${hosting}`);
  /** @type {Record<string, string[]>} */
  const groups = {};
  for (const { name, host } of SERVICES) (groups[hosting === "shared" ? host : name] ??= []).push(name);
  return groups;
};

/** @param {NodeJS.ProcessEnv} env @param {string} service */
export const groupOf = (env, service) => Object.entries(processGroups(env)).find(([, names]) => names.includes(service))?.[0];

/** @param {readonly string[]} services @returns {string[]} arguments of node */
export const groupArguments = (services) => {
  const [only] = services;
  if (services.length === 1 && only !== undefined) return [join(ROOT, folderOf(serviceOf(only)), "dist", "main.js")];
  return [join(ROOT, "deploy", "local", "platform", "host.mjs"), ...services];
};

const DEFAULT_GATEWAY_PORT = 8080;

/** @param {string} variable @param {string} address */
const requireFree = async (variable, address) => {
  const port = Number(address.slice(address.lastIndexOf(":") + 1));
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`${variable} must name a port between 1 and 65535, not ${address}`);
  if (!(await reservePort(port))) throw new Error(`${variable} asks for port ${port}, which is taken`);
  return address;
};

/** @param {NodeJS.ProcessEnv} env */
const gatewayListen = async (env) => {
  if (env.GATEWAY_LISTEN) return requireFree("GATEWAY_LISTEN", env.GATEWAY_LISTEN);
  if (env.PORT) return requireFree("PORT", `127.0.0.1:${env.PORT}`);
  return `127.0.0.1:${await freePort(DEFAULT_GATEWAY_PORT)}`;
};

/**
 * Addresses of all services: from the environment, or a free loopback port.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Record<string, string>>} host:port by variable
 */
export const chooseListens = async (env) => {
  /** @type {Record<string, string>} */
  const listens = {};
  const variables = SERVICES.flatMap(({ listens }) => Object.keys(listens));
  // Handles addresses from the environment first, so that no free port equals one of them.
  for (const variable of variables) {
    const listen = env[variable];
    if (variable === "GATEWAY_LISTEN") listens[variable] = await gatewayListen(env);
    else if (listen) listens[variable] = await requireFree(variable, listen);
  }
  for (const variable of variables) listens[variable] ??= `127.0.0.1:${await freePort()}`;
  return listens;
};

/**
 * @typedef {object} Platform settings that processes need about one another
 * @property {Record<string, string>} listens
 * @property {readonly string[]} [formerBaseUrls] addresses of earlier starts
 * @property {string} mongoUri
 * @property {string} redisUrl
 * @property {string} temporalAddress
 * @property {string | undefined} temporalUiUrl
 * @property {string | undefined} [collectorUrl] receiver of traces, if there is a trace viewer
 * @property {string | undefined} [tracesUrl] address of the trace viewer
 * @property {import("../platform/secrets.mjs").Secrets} secrets
 */

/** @param {Platform} platform @param {NodeJS.ProcessEnv} env */
export const baseUrlOf = ({ listens }, env) => env.PUBLIC_BASE_URL || `http://${listens.GATEWAY_LISTEN}`;

/**
 * Address of Temporal's UI for administrators, on the console's host, because it needs the console's session.
 * @param {Platform} platform @param {NodeJS.ProcessEnv} env
 */
export const adminUiUrlOf = (platform, env) => {
  if (platform.temporalUiUrl === undefined) return undefined;
  const url = new URL("/temporal", env.ADMIN_BASE_URL || baseUrlOf(platform, env));
  if (!env.ADMIN_BASE_URL) url.port = /** @type {string} */ (platform.listens.ADMIN_LISTEN).split(":").at(-1) ?? "";
  return url.href;
};

/** @param {Platform} platform */
export const sandboxUrlOf = ({ listens }) => `http://${listens.SANDBOX_LISTEN}`;

/** True if the platform runs local models. @param {NodeJS.ProcessEnv} env */
export const hasLocalModels = (env) => env.LOCAL_MODELS !== "off";

/** Variables of every process. @param {Platform} platform @param {NodeJS.ProcessEnv} env @returns {Record<string, string>} */
const sharedEnvironment = (platform, env) => {
  const { listens } = platform;
  /** @type {Record<string, string>} */
  const addresses = {};
  for (const { name, protocol } of SERVICES) {
    const variable = `${name.toUpperCase()}_ADDRESS`;
    if (protocol === "grpc") addresses[variable] = env[variable] || /** @type {string} */ (listens[listenOf(name)]);
  }
  // Users' requests can't reach the sandbox or local models.
  const [providers, users] = [
    [listens.SANDBOX_LISTEN, listens.INFERENCE_LISTEN, env.PROVIDER_EGRESS_ALLOW],
    [env.EGRESS_ALLOW, env.USER_EGRESS_ALLOW],
  ].map((addresses) => addresses.filter(Boolean).join(","));
  return {
    ...addresses,
    MONGODB_URI: platform.mongoUri,
    REDIS_URL: platform.redisUrl,
    TEMPORAL_ADDRESS: platform.temporalAddress,
    ...(platform.temporalUiUrl === undefined ? {} : { TEMPORAL_UI_URL: platform.temporalUiUrl }),
    // Keeps every trace while a viewer runs.
    ...(platform.collectorUrl === undefined
      ? {}
      : { OTEL_EXPORTER_OTLP_ENDPOINT: platform.collectorUrl, TRACES_SHARE: env.TRACES_SHARE || "1" }),
    PUBLIC_BASE_URL: baseUrlOf(platform, env),
    FORMER_PUBLIC_BASE_URLS: [env.FORMER_PUBLIC_BASE_URLS, ...(platform.formerBaseUrls ?? [])].filter(Boolean).join(","),
    SANDBOX_URL: sandboxUrlOf(platform),
    ...(hasLocalModels(env) ? { INFERENCE_URL: `http://${listens.INFERENCE_LISTEN}` } : {}),
    MEDIA_HTTP_URL: `http://${listens.MEDIA_HTTP_LISTEN}`,
    MEDIA_DIR: env.MEDIA_DIR || MEDIA_DIR,
    // Signs with a self-signed certificate, unless another one is set.
    PROVENANCE: env.PROVENANCE || "signed",
    SANDBOX_DATA_DIR: env.SANDBOX_DATA_DIR || SANDBOX_DIR,
    INFERENCE_DATA_DIR: env.INFERENCE_DATA_DIR || INFERENCE_DIR,
    EXECUTIONS_DATA_DIR: env.EXECUTIONS_DATA_DIR || EXECUTIONS_DIR,
    TRANSFORM_DIR: env.TRANSFORM_DIR || TRANSFORM_DIR,
    PROVIDER_EGRESS_ALLOW: providers ?? "",
    USER_EGRESS_ALLOW: users ?? "",
    // All local visitors share one address.
    REGISTRATION_RATE_LIMIT: env.REGISTRATION_RATE_LIMIT || "300",
    NODE_ENV: env.NODE_ENV || "development",
    NODELOOM_ENV: env.NODELOOM_ENV || "local",
  };
};

/**
 * Environment of one process: shared variables, addresses of its services, and their secrets.
 * @param {{ services: readonly string[], platform: Platform, env: NodeJS.ProcessEnv }} options
 * @returns {NodeJS.ProcessEnv}
 */
export const groupEnvironment = ({ services, platform, env }) => {
  const table = services.map(serviceOf);
  const listens = table.flatMap((service) => Object.keys(service.listens)).map((variable) => [variable, platform.listens[variable]]);
  // Services take an absent variable as their default, but not an empty one.
  const secrets = table
    .flatMap((service) => service.secrets ?? [])
    .map((name) => [name, platform.secrets[name]])
    .filter(([, value]) => value !== "");
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => !(name in platform.secrets)));
  const graceMs = Math.max(0, ...table.map((service) => service.graceMs ?? 0));
  const grace = graceMs > 0 && !env.SHUTDOWN_GRACE_MS ? { SHUTDOWN_GRACE_MS: String(graceMs) } : {};
  return { ...inherited, ...sharedEnvironment(platform, env), ...grace, ...Object.fromEntries([...listens, ...secrets]) };
};
