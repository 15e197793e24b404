// Writes the services of docker-compose.yml and the settings of deploy/docker/example.env, from the table of services and their variables.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { folderOf, SERVICES } from "../../services.cjs";
import { ROOT } from "../paths.mjs";
import { DECLARED, explanationOf, groupOf, introductionOf, OF_PROCESS, secretGroupOf, secretsOf, settingsOf } from "./declared.mjs";
import { commentOf, replaceRegion, writeChanged, writeGenerated } from "./write.mjs";

/** @typedef {(typeof DECLARED)[number]} Declared */
/** @typedef {import("./declared.mjs").Variable} Variable */

const COMPOSE = join(ROOT, "docker-compose.yml");
const EXAMPLE = "deploy/docker/example.env";
const GRACE_MS = 15_000;
/** Time beyond the grace period for work before and after it. */
const STOP_SECONDS = 10;
const USUAL_MEMORY = 1536;

/** Fixed for container installations: addresses of servers, and folders. */
const FIXED = /** @type {Record<string, string>} */ ({
  OPS_LISTEN: "0.0.0.0:9090",
  SHUTDOWN_GRACE_MS: String(GRACE_MS),
  TLS_CA_FILE: "/certificates/authority.pem",
  TEMPORAL_ADDRESS: "temporal:7233",
  TEMPORAL_NAMESPACE: "default",
  TEMPORAL_UI_URL: "http://temporal-ui:8233/temporal",
  SANDBOX_URL: "http://sandbox:8090",
});
/** Defaults for container installations. */
const DEFAULTS = /** @type {Record<string, string>} */ ({
  NODE_ENV: "production",
  PUBLIC_BASE_URL: "http://127.0.0.1:8080",
  ADMIN_BASE_URL: "http://127.0.0.1:8082",
});
/** Prefixes that are added to values from the settings. */
const PREFIXES = /** @type {Record<string, string>} */ ({ PROVIDER_EGRESS_ALLOW: "sandbox:8090," });
/** Required secrets, although some have a default for one machine. */
const REQUIRED = ["BOOTSTRAP_ADMIN_EMAIL", "BOOTSTRAP_ADMIN_PASSWORD", "SANDBOX_API_KEY"];
/** Not configurable: fixed by the servers beside them, paths inside containers, and test-only variables. */
const NOT_OFFERED = [
  /^(MONGODB|REDIS)_.*PREFIX$/,
  /^TEMPORAL_(TLS|API|TASK)/,
  /_(DIR|FILE|PATH|API_BASE)$/,
  /^(INFERENCE_URL|INFERENCE_API_KEY|SANDBOX_CONTROL_KEY|MCP_FIXTURES|DRAIN_MS|TLS_RELOAD_MS|OTEL_BSP_SCHEDULE_DELAY)$/,
];

/**
 * Values in the example, with which it runs on one machine. Other settings are commented out. If a value is empty, make-env.sh generates a
 * secret.
 */
const IN_EXAMPLE = /** @type {Record<string, string>} */ ({
  NODE_ENV: "development",
  LOG_LEVEL: "info",
  PUBLIC_BASE_URL: "http://127.0.0.1:8080",
  ADMIN_BASE_URL: "http://127.0.0.1:8082",
  TRUST_PROXY: "0",
  BOOTSTRAP_ADMIN_EMAIL: "admin@example.com",
  BOOTSTRAP_ADMIN_PASSWORD: "",
  API_KEY_PEPPER: "",
  SECRETS_KEYS: "",
  MEDIA_URL_KEYS: "",
  SESSION_SECRET: "",
  TEMPORAL_PAYLOAD_KEYS: "",
  SANDBOX_API_KEY: "",
});

/** Descriptions of secrets that no service declares, or with another meaning. @type {Record<string, string>} */
const DESCRIPTIONS = {
  SANDBOX_API_KEY: "key that the sandbox provider requires",
  AWS_ACCESS_KEY_ID: "credentials for the bucket",
  AWS_SECRET_ACCESS_KEY: "credentials for the bucket",
};

/** @param {string} name */
const isOffered = (name) => !NOT_OFFERED.some((pattern) => pattern.test(name));

/** @param {Pick<Variable, "name" | "required" | "description">} variable */
const valueOf = ({ name, required, description }) => {
  if (FIXED[name] !== undefined) return FIXED[name];
  if (DEFAULTS[name] !== undefined) return `\${${name}:-${DEFAULTS[name]}}`;
  if (!required && !REQUIRED.includes(name)) return `${PREFIXES[name] ?? ""}\${${name}:-}`;
  return `\${${name}:?set it to a value (${(DESCRIPTIONS[name] ?? description).replaceAll("`", "").split(/[;:]/, 1)[0]})}`;
};

/** @param {string} service */
const mongoUri = (service) => {
  const password = `\${MONGO_${service.toUpperCase()}_PASSWORD:?set it to the password of the MongoDB user of ${service}}`;
  return `mongodb://${service}:${password}@mongo:27017/?replicaSet=rs0&authSource=admin`;
};

/** @param {string} service @param {string} listen */
const portOf = (service, listen) => SERVICES.find(({ name }) => name === service)?.listens[listen];

/** @param {Declared} declared @param {string} name */
const reads = ({ variables }, name) => variables.some((variable) => variable.name === name);

/** @param {Declared["service"]} service */
const usesTls = ({ protocol, calls }) => protocol === "grpc" || calls.length > 0;

/** Settings and secrets of a service that operators can set. @param {Declared} declared @returns {Variable[]} */
const offered = (declared) => {
  const secrets = secretsOf(declared).map(
    (name) =>
      declared.variables.find((variable) => variable.name === name) ??
      /** @type {Variable} */ ({ name, description: DESCRIPTIONS[name] ?? "", required: false, fallback: "", shown: "", schema: {} }),
  );
  return [...settingsOf(declared), ...secrets].filter(({ name }) => isOffered(name) && !["MONGODB_URI", "REDIS_URL"].includes(name));
};

/** @param {Declared} declared @returns {Record<string, string>} */
const environmentOf = (declared) => {
  const { name, listens, calls, urls = {}, graceMs, data } = declared.service;
  const folder = declared.variables.find((variable) =>
    [`${name.toUpperCase()}_DIR`, `${name.toUpperCase()}_DATA_DIR`].includes(variable.name),
  );
  return {
    ...(reads(declared, "MONGODB_URI") ? { MONGODB_URI: mongoUri(name) } : {}),
    ...(reads(declared, "REDIS_URL") ? { REDIS_URL: "redis://:${REDIS_PASSWORD:?set it to the password of Redis}@redis:6379" } : {}),
    ...(graceMs === undefined ? {} : { SHUTDOWN_GRACE_MS: String(graceMs) }),
    ...Object.fromEntries(Object.entries(listens).map(([variable, port]) => [variable, `0.0.0.0:${port}`])),
    ...Object.fromEntries(
      calls.map((callee) => [`${callee.toUpperCase()}_ADDRESS`, `${callee}:${portOf(callee, `${callee.toUpperCase()}_LISTEN`)}`]),
    ),
    ...Object.fromEntries(
      Object.entries(urls).map(([variable, to]) => [variable, `http://${to.service}:${portOf(to.service, to.listen)}`]),
    ),
    ...(data && folder ? { [folder.name]: `/data/${name}` } : {}),
    ...Object.fromEntries(offered(declared).map((variable) => [variable.name, valueOf(variable)])),
    ...(usesTls(declared.service)
      ? { TLS_CERT_FILE: `/certificates/${name}/certificate.pem`, TLS_KEY_FILE: `/certificates/${name}/key.pem` }
      : {}),
  };
};

/** @param {Declared} declared */
const networksOf = (declared) => [
  // A port can't be reached if the container is only on internal networks.
  ...(declared.service.internet !== undefined || declared.service.name === "gateway" ? ["outside"] : []),
  "services",
  ...(reads(declared, "MONGODB_URI") || reads(declared, "REDIS_URL") ? ["data"] : []),
  ...(reads(declared, "TEMPORAL_ADDRESS") ? ["orchestration"] : []),
];

/** @param {unknown} value */
const inline = (value) => stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();

/** @param {Record<string, string>} environment @param {string} indent */
const lines = (environment, indent) =>
  Object.entries(environment)
    .map(([name, value]) => `${indent}${name}: ${inline(value)}\n`)
    .join("");

/** @param {Declared} declared */
const dependenciesOf = ({ service, variables }) => ({
  certs: "*once",
  ...(service.database ? { migrate: "*once" } : {}),
  ...(variables.some(({ name }) => name === "REDIS_URL") || service.database ? { redis: "*healthy" } : {}),
  ...(service.name === "gateway" ? Object.fromEntries(service.calls.map((callee) => [callee, "*healthy"])) : {}),
});

/** @param {string} limit in Kubernetes's notation */
const megabytes = (limit) => (limit.endsWith("Gi") ? 1024 : 1) * Number.parseInt(limit, 10);

/** @param {Declared} declared */
const serviceText = (declared) => {
  const { service } = declared;
  const { name, about, graceMs, data, resources } = service;
  const memory = megabytes(resources.limit);
  const volumes = [...(usesTls(service) ? ["*certificates"] : []), ...(data ? [`"${name}:/data/${name}"`] : [])];
  return [
    commentOf(`${about[0]?.toUpperCase()}${about.slice(1)}.`, "  "),
    `  ${name}:\n    <<: *service\n    command: [${folderOf(service)}/dist/main.js]\n`,
    ...(graceMs === undefined ? [] : [`    stop_grace_period: ${graceMs / 1000 + STOP_SECONDS}s\n`]),
    // Services with more memory start child processes.
    ...(memory > USUAL_MEMORY ? [`    mem_limit: ${memory}m\n    pids_limit: 512\n`] : []),
    `    environment:\n      <<: *process\n${lines(environmentOf(declared), "      ")}`,
    ...(volumes.length === 0 ? [] : [`    volumes: [${volumes.join(", ")}]\n`]),
    ...(name === "gateway" ? ['    ports: ["127.0.0.1:${GATEWAY_PORT:-8080}:8080", "127.0.0.1:${ADMIN_PORT:-8082}:8082"]\n'] : []),
    `    networks: ${inline(networksOf(declared))}\n    healthcheck:\n      <<: *health\n      test: *probe\n    depends_on:\n`,
    ...Object.entries(dependenciesOf(declared)).map(([target, condition]) => `      ${target}: ${condition}\n`),
  ].join("");
};

/** Local models have their own file, deploy/docker/local-models.yml. */
const inCompose = DECLARED.filter(({ service }) => service.name !== "inference");
const withDatabase = SERVICES.filter(({ database }) => database).map(({ name }) => name);
const withCertificate = SERVICES.filter(usesTls).map(({ name }) => name);
const process = OF_PROCESS.filter(({ name }) => FIXED[name] !== undefined || isOffered(name));

const regions = {
  process: `x-process: &process\n${lines(Object.fromEntries(process.map((variable) => [variable.name, valueOf(variable)])), "  ")}`,
  services: inCompose.map(serviceText).join("\n"),
  databases: lines(Object.fromEntries(withDatabase.map((name) => [`${name.toUpperCase()}_MONGODB_URI`, mongoUri(name)])), "      "),
  certificates: `    command: [/authority, /certificates, ${withCertificate.join(", ")}]\n`,
  passwords: lines(
    Object.fromEntries(withDatabase.map((name) => [`MONGO_${name.toUpperCase()}_PASSWORD`, `\${MONGO_${name.toUpperCase()}_PASSWORD}`])),
    "      ",
  ),
  volumes: inCompose.flatMap(({ service }) => (service.data ? [`  ${service.name}: {}\n`] : [])).join(""),
};
await writeGenerated(
  "docker-compose.yml",
  Object.entries(regions).reduce((text, [name, content]) => replaceRegion(text, name, content), readFileSync(COMPOSE, "utf8")),
);

/** @param {Variable} variable */
const exampleLine = (variable) => {
  const exampleValue = IN_EXAMPLE[variable.name];
  const line = exampleValue === undefined ? `#${variable.name}=${variable.fallback}` : `${variable.name}=${exampleValue}`;
  return `${commentOf(explanationOf({ ...variable, description: DESCRIPTIONS[variable.name] ?? variable.description }), "")}${line}\n`;
};

/** @type {Map<string, Map<string, Variable>>} */
const groups = new Map([["process", new Map(process.filter(({ name }) => FIXED[name] === undefined).map((one) => [one.name, one]))]]);
for (const declared of inCompose)
  for (const variable of offered(declared).filter(({ name }) => FIXED[name] === undefined)) {
    const isInGroup = [...groups.values()].some((variables) => variables.has(variable.name));
    const group = groupOf(declared.service.name, variable.name);
    if (!isInGroup) groups.set(group, (groups.get(group) ?? new Map()).set(variable.name, variable));
  }
const settings = [...groups].map(([group, variables]) => {
  const introduction = introductionOf(group);
  return `${introduction === "" ? "" : commentOf(introduction, "")}${[...variables.values()].map(exampleLine).join("")}`;
});
const example = replaceRegion(readFileSync(join(ROOT, EXAMPLE), "utf8"), "settings", settings.join("\n"));
writeChanged(EXAMPLE, replaceRegion(example, "databases", withDatabase.map((name) => `MONGO_${name.toUpperCase()}_PASSWORD=\n`).join("")));
