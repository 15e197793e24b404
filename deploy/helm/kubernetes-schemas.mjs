/**
 * Writes deploy/helm/test/kubernetes.json.gz: Kubernetes's own schemas (Apache-2.0) of the kinds that the chart can use, strict, with
 * references and without descriptions. Tests validate the rendered chart with them, without a cluster. For another version of Kubernetes,
 * run: node deploy/helm/kubernetes-schemas.mjs
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { pythonEnvironment } from "../local/build/python.mjs";

const REQUIREMENTS = "kubernetes-validate==1.37.0";
/** Version of the API server in `npm run drill kube`. */
const VERSION = "1.36.0";
const TARGET = fileURLToPath(new URL("test/kubernetes.json.gz", import.meta.url));
/** File names of the package: kind, group without its domain, version. */
const KINDS = [
  "configmap-v1",
  "cronjob-batch-v1",
  "deployment-apps-v1",
  "horizontalpodautoscaler-autoscaling-v2",
  "ingress-networking-v1",
  "job-batch-v1",
  "networkpolicy-networking-v1",
  "persistentvolumeclaim-v1",
  "poddisruptionbudget-policy-v1",
  "role-rbac-v1",
  "rolebinding-rbac-v1",
  "secret-v1",
  "service-v1",
  "serviceaccount-v1",
];
const DEFINITIONS = "#/$defs/";
/** Members without effect on validation. */
const TOLD_ONLY = new Set(["description", "title"]);

/** @param {string} python */
const packageFolder = async (python) => {
  const lib = join(dirname(python), "..", "lib");
  const [version = ""] = await readdir(lib);
  return join(lib, version, "site-packages", "kubernetes_validate", "kubernetes-json-schema", `v${VERSION}-local-strict`);
};

/**
 * Removes descriptions from a schema, and points references into `$defs`; `refer` receives each.
 * @param {any} schema @param {(name: string) => void} refer @returns {any}
 */
const slim = (schema, refer) => {
  if (Array.isArray(schema)) return schema.map((item) => slim(item, refer));
  if (typeof schema !== "object" || schema === null) return schema;
  // A property can have a keyword's name; then its value is a schema.
  const isTold = (/** @type {[string, unknown]} */ [key, value]) =>
    (TOLD_ONLY.has(key) && typeof value === "string") || /^(\$id|\$schema|x-kubernetes-.*)$/.test(key);
  const members = Object.entries(schema).filter((entry) => !isTold(entry));
  return Object.fromEntries(
    members.map(([key, value]) => {
      if (key !== "$ref") return [key, slim(value, refer)];
      const name = String(value).split(DEFINITIONS).at(-1) ?? "";
      refer(name);
      return [key, `${DEFINITIONS}${name}`];
    }),
  );
};

/** @param {string} path */
const read = async (path) => JSON.parse(await readFile(path, "utf8"));

const folder = await packageFolder(
  await pythonEnvironment({ name: "kubernetes-schemas", requirements: REQUIREMENTS, progress: console.error }),
);
const { $defs: definitions } = await read(join(folder, "_definitions.json"));
/** @type {Record<string, unknown>} */
const $defs = {};
/** @param {string} name */
const refer = (name) => {
  if (name in $defs) return;
  $defs[name] = {};
  $defs[name] = slim(definitions[name], refer);
};
/** @type {Record<string, unknown>} */
const kinds = {};
for (const kind of KINDS) {
  const schema = await read(join(folder, `${kind}.json`));
  const [apiVersion] = schema.properties.apiVersion.enum;
  const [name] = schema.properties.kind.enum;
  const { status: _, ...properties } = schema.properties;
  kinds[`${apiVersion} ${name}`] = slim({ ...schema, properties, required: ["apiVersion", "kind", "metadata"] }, refer);
}
const compressed = gzipSync(JSON.stringify({ version: VERSION, kinds, $defs }), { level: 9 });
await writeFile(TARGET, compressed);
process.stdout.write(`${Object.keys(kinds).length} kinds, ${Object.keys($defs).length} definitions, ${compressed.length} bytes\n`);
