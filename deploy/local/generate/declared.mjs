import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { folderOf, SERVICES } from "../../services.cjs";
import { ROOT } from "../paths.mjs";

/**
 * Variables of built services, and their grouping in deployments.
 * @typedef {object} Variable
 * @property {string} name
 * @property {string} description
 * @property {boolean} required
 * @property {string} fallback the default as text; empty if there is none, or if it depends on the machine
 * @property {string} shown the default as text that is the same on every machine
 * @property {Record<string, any>} schema the JSON schema
 */

const require = createRequire(import.meta.url);

/** Groups of variables that services share or that have one subject: names and an introduction. Other variables are grouped by service. */
const GROUPS = /** @type {const} */ ([
  ["public", /^PUBLIC_BASE_URL$/, ""],
  ["oidc", /^OIDC_/, "An OpenID Connect provider for sign-in: docs/operations/sign-in.md."],
  ["mail", /^(SMTP|MAIL)_/, "A mail server: docs/operations/mail.md. Without SMTP_URL and MAIL_FROM, no mail is sent."],
  ["payments", /^(STRIPE|CREDIT)_/, "Payments by Stripe: docs/operations/paying.md. Without a key, credits can't be bought."],
  ["moderation", /^MODERATION_/, "A hook that sees prompts and results: docs/operations/moderation.md. Without a URL, nothing is checked."],
  ["mongodb", /^MONGODB_/, ""],
  ["redis", /^REDIS_/, ""],
  ["temporal", /^TEMPORAL_(?!UI_)/, ""],
  ["worker", /^WORKER_/, "How much work one replica takes at once."],
  ["egress", /^PROVIDER_EGRESS_/, ""],
  ["userEgress", /^USER_EGRESS_/, ""],
  ["retention", /^RETENTION_/, ""],
]);

/** @param {string} service @param {string} variable */
export const groupOf = (service, variable) => GROUPS.find(([, pattern]) => pattern.test(variable))?.[0] ?? service;

/** @param {string} group */
export const introductionOf = (group) => GROUPS.find(([name]) => name === group)?.[2] ?? "";

/** @param {string} name @param {any} zod @returns {Variable} */
const describe = (name, zod) => {
  const schema = zod.toJSONSchema({ io: "input", unrepresentable: "any" });
  const parsed = zod.safeParse(undefined);
  const value = schema.default ?? (parsed.success ? parsed.data : undefined);
  const text = Array.isArray(value) ? value.join(",") : String(value ?? "");
  // A local path can't be the default on other machines.
  const fallback = text.startsWith("/") ? "" : text;
  const shortText = text.replace(ROOT, "").replace(`${tmpdir()}/`, "<temporary folder>/");
  return { name, description: zod.description ?? "", required: !parsed.success, fallback, shown: shortText, schema };
};

/** @param {Record<string, any>} shape */
const describeAll = (shape) => Object.entries(shape).map(([name, zod]) => describe(name, zod));

const { processVariables } = require(join(ROOT, "services", "platform", "dist", "index.js"));

/** Variables that every process reads. */
export const OF_PROCESS = describeAll(processVariables);

/** Variables of each service, without those of every process. */
export const DECLARED = SERVICES.map((service) => {
  const { shape } = require(join(ROOT, folderOf(service), "dist", "main.js")).service.config;
  return { service, variables: describeAll(shape).filter(({ name }) => !Object.hasOwn(processVariables, name)) };
});

/** @type {Record<string, { secret: string, optional?: boolean, variables: Record<string, string> }>} */
const chartSecrets = parse(readFileSync(join(ROOT, "deploy", "helm", "nodeloom", "values.yaml"), "utf8")).secrets;

/** Group of a secret in the chart; undefined for others. @param {string} variable */
export const secretGroupOf = (variable) =>
  Object.entries(chartSecrets).find(([, { variables }]) => Object.hasOwn(variables, variable))?.[0];

/** Secrets that a service reads, declared or not. @param {(typeof DECLARED)[number]} declared @returns {string[]} */
export const secretsOf = ({ service, variables }) => {
  const readNames = [...variables.map(({ name }) => name), ...(service.secrets ?? []), ...(service.undeclaredSecrets ?? [])];
  return [...new Set(readNames)].filter((name) => secretGroupOf(name) !== undefined);
};

/** Addresses and ports from the table of services. @param {(typeof DECLARED)[number]["service"]} service @param {string} name */
const isWiring = (service, name) =>
  Object.hasOwn(service.listens, name) ||
  Object.hasOwn(service.urls ?? {}, name) ||
  service.calls.some((callee) => name === `${callee.toUpperCase()}_ADDRESS`);

/** Configurable variables of a service, without wiring and secrets. @param {(typeof DECLARED)[number]} declared */
export const settingsOf = ({ service, variables }) =>
  variables.filter(({ name }) => !isWiring(service, name) && secretGroupOf(name) === undefined);

/** @typedef {{ group: string, introduction: string, variables: Variable[] }} SettingGroup */

/** All settings by group in the order of services, those of every process first. @returns {SettingGroup[]} */
export const settingGroups = () => {
  /** @type {Map<string, Map<string, Variable>>} */
  const groups = new Map([
    ["process", new Map(OF_PROCESS.filter(({ name }) => !/^TLS_.*_FILE$/.test(name)).map((one) => [one.name, one]))],
  ]);
  for (const declared of DECLARED) {
    for (const variable of settingsOf(declared)) {
      const group = groupOf(declared.service.name, variable.name);
      groups.set(group, (groups.get(group) ?? new Map()).set(variable.name, variable));
    }
  }
  return [...groups].map(([group, variables]) => ({ group, introduction: introductionOf(group), variables: [...variables.values()] }));
};

/** A variable's description and default, as a comment. @param {Variable} variable */
export const explanationOf = ({ name, description, fallback }) => {
  const plain = description.replaceAll("`", "");
  const text = plain === "" ? name : plain[0]?.toUpperCase() + plain.slice(1);
  return fallback === "" || fallback === "false" ? `${text}.` : `${text}. Default: ${fallback}.`;
};
