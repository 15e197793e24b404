// Writes settings and services in the chart's values.yaml, from the table of services and their variables.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { folderOf } from "../../services.cjs";
import { ROOT } from "../paths.mjs";
import { DECLARED, explanationOf, groupOf, secretGroupOf, secretsOf, settingGroups, settingsOf } from "./declared.mjs";
import { commentOf, replaceRegion, writeGenerated } from "./write.mjs";

const VALUES = "deploy/helm/nodeloom/values.yaml";

/** Values for a cluster if the default suits one machine. Keys are variables, or `<group>.<variable>` if groups differ. */
const IN_CLUSTER = /** @type {Record<string, string>} */ ({
  NODE_ENV: "production",
  LOG_LEVEL: "info",
  // Plain HTTP, because the kubelet has no mutual TLS.
  OPS_LISTEN: "0.0.0.0:9090",
  // Time for load balancers to notice a stopping pod.
  DRAIN_MS: "10000",
  SHUTDOWN_GRACE_MS: "30000",
  PUBLIC_BASE_URL: "https://nodeloom.example.com",
  // The ingress reports the client's address.
  TRUST_PROXY: "1",
  TEMPORAL_ADDRESS: "temporal-frontend.temporal.svc.cluster.local:7233",
  MEDIA_DIR: "/data",
  EXECUTIONS_DATA_DIR: "/data",
  TRANSFORM_DIR: "/data",
  SANDBOX_DATA_DIR: "/data",
  INFERENCE_DATA_DIR: "/data",
  // Model files in the image.
  "inference.NODELOOM_CACHE_DIR": "/models",
});

const settings = settingGroups().map(({ group, introduction, variables }) => {
  const lines = variables.map((variable) => {
    const value = IN_CLUSTER[`${group}.${variable.name}`] ?? IN_CLUSTER[variable.name] ?? "";
    return `${commentOf(explanationOf(variable), "    ")}    ${variable.name}: ${JSON.stringify(value)}\n`;
  });
  return `${introduction === "" ? "" : commentOf(introduction, "  ")}  ${group}:\n${lines.join("")}`;
});

/** @param {Iterable<string | undefined>} names */
const distinct = (names) => [...new Set(names)].filter((name) => name !== undefined);

/** @param {(typeof DECLARED)[number]} declared */
const serviceValues = (declared) => {
  const { service } = declared;
  const { name, listens, calls, urls, replicas, data, resources, graceMs, autoscaling, internet, providerKeys, single } = service;
  const groups = distinct(settingsOf(declared).map((variable) => groupOf(name, variable.name)));
  const reaches = [
    ...(declared.variables.some((variable) => variable.name === "TEMPORAL_ADDRESS") ? ["temporal"] : []),
    ...(internet === "any" ? ["internet"] : []),
  ];
  return {
    enabled: service.enabled ?? true,
    main: `${folderOf(service)}/dist/main.js`,
    replicas,
    ...(single === undefined ? {} : { single: true }),
    listens,
    calls,
    ...(urls === undefined ? {} : { urls }),
    ...(reaches.length === 0 ? {} : { reaches }),
    settings: groups,
    secrets: distinct(secretsOf(declared).map(secretGroupOf)),
    ...(providerKeys ? { readsProviderKeys: true } : {}),
    ...(graceMs === undefined ? {} : { shutdownGraceMs: String(graceMs) }),
    ...(data === undefined ? {} : { data: { size: data.size, storageClass: "", ...(data.scratch ? { scratch: true } : {}) } }),
    resources: { requests: { cpu: resources.cpu, memory: resources.memory }, limits: { memory: resources.limit } },
    ...(autoscaling === undefined ? {} : { autoscaling }),
  };
};

/** One member per line. @param {Record<string, unknown>} values @param {string} indent */
const members = (values, indent) =>
  Object.entries(values)
    .map(([key, value]) => `${indent}${key}: ${stringify(value, { collectionStyle: "flow", lineWidth: 0 })}`)
    .join("");

const services = DECLARED.map((declared) => {
  const { name, about, single } = declared.service;
  const comment = `${about[0]?.toUpperCase()}${about.slice(1)}${single === undefined ? "" : `; never more than one replica: ${single}`}.`;
  return `${commentOf(comment, "  ")}  ${name}:\n${members(serviceValues(declared), "    ")}`;
});

const text = readFileSync(join(ROOT, VALUES), "utf8");
await writeGenerated(VALUES, replaceRegion(replaceRegion(text, "settings", settings.join("")), "services", services.join("")));
