import { createInputCheck, isRecord, type JsonSchema } from "@nodeloom/kernel/graph";

/** Checks a model's arguments against a tool's JSON Schema. */

type Json = Readonly<Record<string, unknown>>;

/** A schema without some members, which the assistant sets itself. */
export const withoutMembers = (schema: Json, names: readonly string[]): Json => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  const otherMembers = Object.entries(properties).filter(([name]) => !names.includes(name));
  return {
    ...schema,
    properties: Object.fromEntries(otherMembers),
    required: required.filter((name) => !names.includes(String(name))),
  };
};

/** The schema of a union that an object names by a constant, such as `op`; the union itself without one. */
const namedVariant = (schema: Json, value: unknown): Json => {
  if (!Array.isArray(schema.oneOf) || !isRecord(value)) return schema;
  const isNamed = (variant: unknown): boolean =>
    isRecord(variant) &&
    isRecord(variant.properties) &&
    Object.entries(variant.properties).some(([name, one]) => isRecord(one) && one.const !== undefined && one.const === value[name]);
  return (schema.oneOf as unknown[]).find((variant): variant is Json => isNamed(variant)) ?? schema;
};

const problemsIn = (schema: Json, value: unknown, path: string): string[] =>
  createInputCheck(schema as JsonSchema)(value).map((issue) => `${[path, issue.path].filter(Boolean).join(".")}: ${issue.message}`);

/** Problems of each element of a list whose schema is a union: those of the variant that it names. */
const problemsOfElements = (schema: Json, value: Json): string[] => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return Object.entries(properties).flatMap(([name, member]) => {
    const list = value[name];
    if (!isRecord(member) || !isRecord(member.items) || !Array.isArray(list)) return [];
    const items: Json = member.items;
    return (list as unknown[]).flatMap((element, index) => problemsIn(namedVariant(items, element), element, `${name}.${index}`));
  });
};

/** Problems of arguments; empty if they are valid. */
export const problemsOfArguments = (schema: Json, value: unknown): readonly string[] => {
  const problems = problemsIn(schema, value, "");
  if (problems.length === 0 || !isRecord(value)) return problems;
  const ofElements = problemsOfElements(schema, value);
  return ofElements.length > 0 ? ofElements : problems;
};
