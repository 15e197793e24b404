import { z } from "zod";

export type Json = Record<string, unknown>;
export type Direction = "input" | "output";

const DEFINITIONS = "#/$defs/";
export const COMPONENTS = "#/components/schemas/";

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Applies OpenAPI members that zod can't express: `override` replaces generated members, and null removes them. */
const overridden = ({ override, ...generated }: Json): Json => {
  const members = isObject(override) ? { ...generated, ...override } : generated;
  return Object.fromEntries(
    Object.entries(members).filter(([name, member]) => member !== null || !(isObject(override) && name in override)),
  );
};

/** Generators of clients don't know a list of types: several types besides null become alternatives. */
const alternatives = (schema: Json): Json => {
  const { type, ...members } = schema;
  if (!Array.isArray(type) || type.filter((one) => one !== "null").length < 2) return schema;
  return { ...members, anyOf: type.map((one: unknown) => ({ type: one })) };
};

const DROPPED: ReadonlySet<string> = new Set(["$defs", "$schema"]);

/** Points references at the components and applies overrides. */
const rewrite = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rewrite);
  if (!isObject(value)) return value;
  const members = Object.entries(alternatives(overridden(value))).filter(([name]) => !DROPPED.has(name));
  return Object.fromEntries(
    members.map(([name, member]) => {
      const isReference = name === "$ref" && typeof member === "string";
      return [name, isReference ? member.replace(DEFINITIONS, COMPONENTS) : rewrite(member)];
    }),
  );
};

/** Schemas by name, collected while operations are described. */
export const createComponents = (): { schemas: Json; describe(schema: z.ZodType, io: Direction): Json } => {
  const schemas: Json = {};
  const describe = (schema: z.ZodType, io: Direction): Json => {
    const generated = z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12" }) as Json;
    const definitions = isObject(generated.$defs) ? generated.$defs : {};
    for (const [name, definition] of Object.entries(definitions)) schemas[name] = without(rewrite(definition) as Json, "id");
    const described = rewrite(generated) as Json;
    if (typeof described.id !== "string") return described;
    schemas[described.id] = without(described, "id");
    return { $ref: `${COMPONENTS}${described.id}` };
  };
  return { schemas, describe };
};

const without = (value: Json, name: string): Json => Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

export type Components = ReturnType<typeof createComponents>;

/** A schema with its references inlined. */
export const standalone = (schema: z.ZodType, io: Direction): Json => {
  const { schemas, describe } = createComponents();
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined);
    if (!isObject(value)) return value;
    if (typeof value.$ref === "string") return inlined(schemas[value.$ref.slice(COMPONENTS.length)]);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inlined(member)]));
  };
  return inlined(describe(schema, io)) as Json;
};
