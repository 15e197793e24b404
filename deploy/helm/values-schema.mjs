// Writes the chart's values.schema.json from values.yaml and the variables that services declare.
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { DECLARED, OF_PROCESS } from "../local/generate/declared.mjs";
import { writeGenerated } from "../local/generate/write.mjs";

const PATTERNS = /** @type {Record<string, string>} */ ({ integer: "^\\d*$", number: "^(\\d+(\\.\\d+)?)?$" });
/** JSON Schema for a variable as text, because in an environment numbers and lists are also texts. @param {Record<string, any>} schema */
const textSchema = ({ description = "", enum: options, type }) => {
  const open = options === undefined ? {} : { enum: ["", ...options] };
  const pattern = PATTERNS[type];
  return { type: "string", description, ...open, ...(pattern === undefined ? {} : { pattern }) };
};

/** JSON schemas of all variables. */
const variables = Object.fromEntries(
  [OF_PROCESS, ...DECLARED.map((one) => one.variables)].flat().map(({ name, schema }) => [name, schema]),
);

const TYPES = /** @type {Record<string, string>} */ ({ string: "string", boolean: "boolean", number: "integer" });

/** Schema from a default value. Empty objects and lists accept anything. @param {any} value @returns {Record<string, any>} */
const shapeOf = (value) => {
  if (Array.isArray(value)) return { type: "array" };
  if (typeof value !== "object" || value === null) return { type: TYPES[typeof value] };
  const members = Object.entries(value);
  if (members.length === 0) return { type: "object" };
  return {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(members.map(([name, member]) => [name, shapeOf(member)])),
  };
};

/**
 * Combines the members of both, at every depth.
 * @param {Record<string, any>} one @param {Record<string, any>} other @returns {Record<string, any>}
 */
const mergeShapes = (one, other) => {
  if (one.type !== other.type) throw new Error(`one member is both ${one.type} and ${other.type}: ${JSON.stringify([one, other])}`);
  // An open object stays open.
  if (one.properties === undefined || other.properties === undefined) return one.properties === undefined ? one : other;
  const properties = { ...one.properties };
  for (const [name, shape] of Object.entries(other.properties)) {
    properties[name] = Object.hasOwn(properties, name) ? mergeShapes(properties[name], shape) : shape;
  }
  return { ...one, properties };
};

/** @param {Record<string, any>} settings */
const settingsSchema = (settings) => {
  const schema = shapeOf(settings);
  for (const [group, values] of Object.entries(settings)) {
    for (const name of Object.keys(values)) schema.properties[group].properties[name] = textSchema(variables[name] ?? {});
  }
  return schema;
};

const port = { type: "integer", minimum: 1, maximum: 65_535 };
const names = { type: "array", items: { type: "string" }, uniqueItems: true };

/** Kubernetes objects accepted for any service; the API server validates them. */
const OBJECTS_OF_KUBERNETES = ["nodeSelector", "affinity", "annotations"];
const LISTS_OF_KUBERNETES = ["tolerations", "extraEnv", "extraVolumes", "extraVolumeMounts", "sidecars"];

/** One schema with the members of all services. @param {Record<string, any>} services */
const serviceSchema = (services) => {
  const merged = Object.values(services).map(shapeOf).reduce(mergeShapes).properties;
  return {
    type: "object",
    additionalProperties: false,
    required: ["enabled", "main", "replicas", "listens", "calls", "settings", "secrets", "resources"],
    properties: {
      ...merged,
      replicas: { type: "integer", minimum: 1 },
      listens: { type: "object", additionalProperties: port },
      urls: { type: "object" },
      calls: names,
      settings: names,
      secrets: names,
      reaches: { type: "array", items: { enum: ["mongodb", "redis", "temporal", "internet"] } },
      resources: { type: "object" },
      autoscaling: { type: "object" },
      ...Object.fromEntries(OBJECTS_OF_KUBERNETES.map((name) => [name, { type: "object" }])),
      ...Object.fromEntries(LISTS_OF_KUBERNETES.map((name) => [name, { type: "array", items: { type: "object" } }])),
      priorityClassName: { type: "string" },
      runtimeClassName: { type: "string" },
      serviceAccount: { type: "object", additionalProperties: false, properties: { annotations: { type: "object" } } },
    },
  };
};

const secretSchema = {
  type: "object",
  additionalProperties: false,
  required: ["secret", "variables"],
  properties: {
    secret: { type: "string", minLength: 1 },
    optional: { type: "boolean" },
    variables: { type: "object", additionalProperties: { type: "string", minLength: 1 } },
  },
};

const values = parse(readFileSync(new URL("nodeloom/values.yaml", import.meta.url), "utf8"));
const schema = shapeOf(values);
Object.assign(schema.properties, {
  settings: settingsSchema(values.settings),
  secrets: { type: "object", additionalProperties: secretSchema },
  services: {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(Object.keys(values.services).map((name) => [name, { $ref: "#/definitions/service" }])),
  },
});
schema.properties.certificates.properties.source = { enum: ["certManager", "existing"] };
schema.properties.prometheus.properties.labels = { type: "object" };
schema.properties.prometheus.properties.dashboards.properties.labels = { type: "object" };
schema.properties.ingress.properties.profile = { enum: ["", "nginx"] };
// A parent chart has its own members there.
delete schema.properties.global.additionalProperties;
const document = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Values of the Nodeloom chart",
  ...schema,
  definitions: { service: serviceSchema(values.services) },
};
await writeGenerated("deploy/helm/nodeloom/values.schema.json", JSON.stringify(document));
