// Writes the tables of environment variables into processes.md, from what the services declare.
//
//   node docs/operations/environment-table.mjs           writes them (after npm run build)
//   node docs/operations/environment-table.mjs --check   fails when they are not up to date
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { folderOf, SERVICES } from "../../deploy/services.cjs";

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGE = fileURLToPath(new URL("processes.md", import.meta.url));
const MARKED = /(<!-- (\w+) variables -->\n)[\s\S]*?(<!-- end -->)/g;

const { processVariables } = require(`${ROOT}services/platform/dist/index.js`);
const definitions = SERVICES.map((service) => require(`${ROOT}${folderOf(service)}/dist/main.js`).service);

const cell = (text) => text.replaceAll("|", "\\|");
/** Paths of this machine as they look on any. */
const portable = (value) => String(value).replace(ROOT, "").replace(/\\/g, "/").replace(`${tmpdir()}/`, "<temporary folder>/");

const fallback = (schema) => {
  const parsed = schema.safeParse(undefined);
  if (!parsed.success) return "required";
  const { default: declared } = schema.toJSONSchema({ io: "input", unrepresentable: "any" });
  const value = declared ?? parsed.data;
  return value === undefined || value === "" || (Array.isArray(value) && value.length === 0) ? "" : `\`${portable(value)}\``;
};

const table = (variables) => {
  const rows = Object.entries(variables).map(
    ([name, schema]) => `| \`${name}\` | ${cell(fallback(schema))} | ${cell(schema.description ?? "")} |`,
  );
  return ["| variable | default | what it is |", "| --- | --- | --- |", ...rows].join("\n");
};

const own = ({ config }) => Object.fromEntries(Object.entries(config.shape).filter(([name]) => !Object.hasOwn(processVariables, name)));
const tables = { every: table(processVariables), ...Object.fromEntries(definitions.map((one) => [one.name, table(own(one))])) };

const render = async (page) => {
  const seen = new Set();
  const written = page.replace(MARKED, (_, start, name, end) => {
    if (tables[name] === undefined) throw new Error(`there is no service ${name}`);
    seen.add(name);
    return `${start}\n${tables[name]}\n\n${end}`;
  });
  const missing = Object.keys(tables).filter((name) => !seen.has(name));
  if (missing.length > 0) throw new Error(`processes.md has no place for: ${missing.join(", ")}`);
  const { format, resolveConfig } = await import("prettier");
  return format(written, { ...(await resolveConfig(PAGE)), filepath: PAGE });
};

const page = readFileSync(PAGE, "utf8");
const next = await render(page);
if (!process.argv.includes("--check")) writeFileSync(PAGE, next);
else if (next !== page) {
  process.stderr.write("docs/operations/processes.md is out of date: run npm run generate\n");
  process.exitCode = 1;
}
