import type { Schema } from "./document";

/** Deeper members are only in the OpenAPI document. */
const MAX_DEPTH = 4;
const SCHEMAS_PAGE = "schemas.md";
const MAX_CHOICES = 24;

const isSchema = (value: Schema | boolean | undefined): value is Schema => typeof value === "object";
export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);
export const code = (text: string): string => `\`${text.replaceAll("`", "'")}\``;
export const cell = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ")
    .replaceAll(/(?<!\\)\|/g, "\\|");
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))].map((row) => `| ${row.join(" | ")} |`).join("\n");

const bounds = ({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string => {
  const range = (least: number | undefined, most: number | undefined, unit: string): string[] => {
    const isOpen = most === undefined || most >= Number.MAX_SAFE_INTEGER;
    const from = least !== undefined && least > -Number.MAX_SAFE_INTEGER ? String(least) : undefined;
    if (isOpen) return from === undefined || from === "0" ? [] : [`from ${from}${unit}`];
    return [`${from === undefined ? "up to" : `${from} to`} ${String(most)}${unit}`];
  };
  const all = [...range(minimum, maximum, ""), ...range(minLength, maxLength, " characters"), ...range(minItems, maxItems, " items")];
  return all.length === 0 ? "" : `, ${all.join(", ")}`;
};

const choices = (values: readonly unknown[]): string =>
  values.length > MAX_CHOICES ? "one of many" : values.map((value) => code(JSON.stringify(value))).join(" or ");

const variantsOf = ({ anyOf, oneOf, allOf }: Schema): readonly Schema[] => anyOf ?? oneOf ?? allOf ?? [];

export const typeOf = (schema: Schema): string => {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return `[${name}](${SCHEMAS_PAGE}#${name.toLowerCase()})`;
  }
  if ("const" in schema) return choices([schema.const]);
  if (schema.enum) return choices(schema.enum);
  const variants = variantsOf(schema);
  if (variants.length > 0) return [...new Set(variants.map(typeOf))].join(schema.allOf ? " and " : " or ");
  const { type } = schema;
  if (typeof type === "object") return type.map((one) => typeOf({ ...schema, type: one })).join(" or ");
  if (type === "array") return `list of ${isSchema(schema.items) ? typeOf(schema.items) : "values"}${bounds(schema)}`;
  if (type === "object") {
    const { additionalProperties: values } = schema;
    return !schema.properties && isSchema(values) && Object.keys(values).length > 0 ? `object of ${typeOf(values)}` : "object";
  }
  if (type === undefined) return "any value";
  return `${type}${schema.format === undefined ? "" : ` (${schema.format})`}${bounds(schema)}`;
};

interface Member {
  name: string;
  schema: Schema;
  isRequired: boolean;
}

/** Members of an object and of nested objects: `rows[].status`. */
const membersOf = (schema: Schema, prefix = "", depth = 0): Member[] => {
  if (depth > MAX_DEPTH || schema.$ref !== undefined) return [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([member, value]): Member[] => {
    const name = `${prefix}${member}`;
    return [{ name, schema: value, isRequired: schema.required?.includes(member) === true }, ...membersOf(value, `${name}.`, depth + 1)];
  });
  const items = isSchema(schema.items) ? membersOf(schema.items, `${prefix.replace(/\.$/, "")}[].`, depth + 1) : [];
  const values = isSchema(schema.additionalProperties) ? membersOf(schema.additionalProperties, `${prefix}*.`, depth + 1) : [];
  return [...own, ...items, ...values, ...variantsOf(schema).flatMap((variant) => membersOf(variant, prefix, depth))];
};

/** Table of a value's members; empty if it has none or has its own page. */
export const memberTable = (schema: Schema): string => {
  const members = new Map(membersOf(schema).map((member) => [member.name, member]));
  if (members.size === 0) return "";
  const rows = [...members.values()].map(({ name, schema: value, isRequired }) => [
    code(name),
    `${typeOf(value)}${isRequired ? ", always" : ""}`,
    `${value.description ?? ""}${"default" in value ? ` (${code(JSON.stringify(value.default))} unless given)` : ""}`,
  ]);
  return table(["Member", "Value", ""], rows);
};
