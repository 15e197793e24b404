// Writes the operations of media nodes into nodes/media.md, from the kernel's table.
//
//   node docs/guide/operations-table.mjs       writes them (after npm run build)
//   node docs/guide/operations-table.mjs -     reads the table as JSON from stdin and prints the page
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";

const PAGE = fileURLToPath(new URL("nodes/media.md", import.meta.url));
const MARKED = /(<!-- operations -->\n)[\s\S]*?(<!-- end -->)/;
const STDIN = 0;

const isPiped = process.argv[2] === "-";
const operations = isPiped
  ? JSON.parse(readFileSync(STDIN, "utf8"))
  : createRequire(import.meta.url)("../../services/kernel/dist/index.js").MEDIA_OPERATIONS;

const familyOf = ({ contentMediaType }) => contentMediaType.split("/")[0];
const rangeOf = ({ minimum, maximum }) => (minimum === undefined ? "" : ` ${minimum} to ${maximum}`);
/** What an input takes, in a word or two. */
const typeOf = (schema) => {
  if (schema.format === "media") return `file: ${familyOf(schema)}`;
  if (schema.type === "array" && schema.items?.format === "media")
    return `list of files: ${familyOf(schema.items)}, ${schema.minItems ?? 0} to ${schema.maxItems}`;
  if (schema.enum) return schema.enum.map((one) => `\`${one}\``).join(", ");
  if (schema.pattern?.startsWith("^#")) return "colour";
  if (schema.type === "integer") return `whole number${rangeOf(schema)}`;
  if (schema.type === "number") return `number${rangeOf(schema)}`;
  if (schema.type === "boolean") return "true, false";
  return schema.type === "array" ? "list" : "text";
};
const defaultOf = ({ default: value }) => (value === undefined ? "" : `\`${JSON.stringify(value)}\``);

/** What the operation makes of an example: pictures/draw-operations.mjs draws it. */
const pictureOf = ({ name, title }) => {
  const path = `pictures/operations/${name}.webp`;
  return existsSync(new URL(path, import.meta.url)) ? [`![${title}: what goes in, and what comes out](../${path})`] : [];
};

const sectionOf = (operation) => {
  const { name, summary, output, schema, oneOf = [] } = operation;
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties).map(
    ([input, property]) =>
      `| \`${input}\`${required.has(input) ? " (needed)" : ""} | ${typeOf(property)} | ${defaultOf(property)} | ${property.title} |`,
  );
  const groups = oneOf.map((names) => ` Needs one of ${names.map((one) => `\`${one}\``).join(", ")}.`).join("");
  return [
    `### ${name}`,
    `${summary} Output: \`${output}\`.${groups}`,
    ...pictureOf(operation),
    ["| input | takes | default | what it is |", "| --- | --- | --- | --- |", ...rows].join("\n"),
  ].join("\n\n");
};

const page = readFileSync(PAGE, "utf8");
if (!MARKED.test(page)) throw new Error("media.md has no place for the operations");
const next = await format(
  page.replace(MARKED, (_, start, end) => `${start}\n${operations.map(sectionOf).join("\n\n")}\n\n${end}`),
  { ...(await resolveConfig(PAGE)), filepath: PAGE },
);
if (isPiped) process.stdout.write(next);
else writeFileSync(PAGE, next);
