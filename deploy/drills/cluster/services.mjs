import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../local/paths.mjs";

/**
 * Services and settings from the Helm chart's values, so that the drill runs the same services as a cluster.
 * @typedef {{ main: string, listens: Record<string, number>, calls: string[], urls?: Record<string, { service: string, listen: string }>,
 *   settings: string[], shutdownGraceMs?: string }} ChartService
 */

/** @type {{ settings: Record<string, Record<string, string>>, services: Record<string, ChartService> }} */
const values = parse(readFileSync(join(ROOT, "deploy", "helm", "nodeloom", "values.yaml"), "utf8"));

/** Excludes local models, because no cluster drill needs them. */
export const SERVICES = Object.fromEntries(Object.entries(values.services).filter(([name]) => name !== "inference"));
/** All processes use this port, each on its own loopback address. */
const OPS_PORT = Number(values.settings.process?.OPS_LISTEN?.split(":").at(-1));

/** @param {string} service @returns {ChartService} */
export const serviceOf = (service) => {
  const entry = SERVICES[service];
  if (entry === undefined) throw new Error(`the chart has no service called ${service}`);
  return entry;
};

/** Port of a service's server. @param {string} service @param {string} listen */
export const portOf = (service, listen) => serviceOf(service).listens[listen];

/** @param {string} ip */
export const opsUrl = (ip) => `http://${ip}:${OPS_PORT}`;

/**
 * Environment of a process from the chart, with its own address.
 * @param {string} name @param {string} ip @param {string} certificates folder of all certificates
 * @returns {Record<string, string>}
 */
export const environmentOf = (name, ip, certificates) => {
  const service = serviceOf(name);
  const groups = ["process", ...service.settings].map((group) => values.settings[group]);
  const addresses = service.calls.map((callee) => {
    const variable = callee.toUpperCase();
    return [`${variable}_ADDRESS`, `${callee}:${portOf(callee, `${variable}_LISTEN`)}`];
  });
  const urls = Object.entries(service.urls ?? {}).map(([variable, to]) => [
    variable,
    `http://${to.service}:${portOf(to.service, to.listen)}`,
  ]);
  return {
    ...Object.assign({}, ...groups),
    ...(service.shutdownGraceMs === undefined ? {} : { SHUTDOWN_GRACE_MS: service.shutdownGraceMs }),
    ...Object.fromEntries(Object.entries(service.listens).map(([variable, port]) => [variable, `${ip}:${port}`])),
    OPS_LISTEN: `${ip}:${OPS_PORT}`,
    ...Object.fromEntries([...addresses, ...urls]),
    TLS_CERT_FILE: join(certificates, name, "certificate.pem"),
    TLS_KEY_FILE: join(certificates, name, "key.pem"),
    TLS_CA_FILE: join(certificates, "authority.pem"),
  };
};
