// Writes the operations of media nodes into nodes/media.md, from the kernel's table.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { writeMarked } from "../../deploy/local/generate/write.mjs";

const { MEDIA_OPERATIONS } = createRequire(import.meta.url)("../../services/kernel/dist/index.js");

const familyOf = ({ contentMediaType }) => contentMediaType.split("/")[0];
const rangeOf = ({ minimum, maximum }) => (minimum === undefined ? "" : ` ${minimum} to ${maximum}`);
const typeOf = (schema) => {
  if (schema["x-mask"]) return "file: mask";
  if (schema.format === "media") return `file: ${familyOf(schema)}`;
  if (schema.type === "array" && schema.items?.format === "media")
    return `list of files: ${familyOf(schema.items)}, ${schema.minItems ?? 0} to ${schema.maxItems}`;
  if (schema.enum) return schema.enum.map((one) => `\`${one}\``).join(", ");
  if (schema.pattern?.startsWith("^#")) return "color";
  if (schema.type === "integer") return `whole number${rangeOf(schema)}`;
  if (schema.type === "number") return `number${rangeOf(schema)}`;
  if (schema.type === "boolean") return "true, false";
  return schema.type === "array" ? "list" : "text";
};
const explanationOf = ({ title, description }) =>
  [title, description]
    .filter(Boolean)
    .join(". ")
    .replace(/(?<!\.)$/, ".");
const defaultOf = ({ default: value }) => (value === undefined ? "" : `\`${JSON.stringify(value)}\``);

/** Drawn by pictures/draw-operations.mjs. */
const pictureOf = ({ name, title }) => {
  const path = `pictures/operations/${name}.webp`;
  return existsSync(new URL(path, import.meta.url)) ? [`![${title}: inputs and result](../${path})`] : [];
};

const sectionOf = (operation) => {
  const { name, summary, output, schema, oneOf = [] } = operation;
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties).map(
    ([input, property]) =>
      `| \`${input}\`${required.has(input) ? " (required)" : ""} | ${typeOf(property)} | ${defaultOf(property)} | ${explanationOf(property)} |`,
  );
  const groups = oneOf.map((names) => ` Needs one of ${names.map((one) => `\`${one}\``).join(", ")}.`).join("");
  return [
    `### ${name}`,
    `${summary} Output: \`${output}\`.${groups}`,
    ...pictureOf(operation),
    ["| Input | Type | Default | Description |", "| --- | --- | --- | --- |", ...rows].join("\n"),
  ].join("\n\n");
};

await writeMarked("docs/guide/nodes/media.md", { operations: MEDIA_OPERATIONS.map(sectionOf).join("\n\n") });
