import { InputError } from "../engine";

/** Converts a user's JSON Schema to a grammar for small models. Texts and lists are bounded, so that an answer ends. */

const MAX_DEPTH = 24;
const MAX_TEXT = 300;
const MAX_ITEMS = 10;
const SCALARS = new Set(["string", "number", "integer", "boolean", "null"]);
const FORMATS = new Set(["date-time", "time", "date"]);

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const count = (value: unknown, fallback: number): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : fallback;

/** Resolves a reference within the schema. */
const resolved = (root: Json, reference: string): unknown => {
  if (!reference.startsWith("#")) throw new InputError(`schema: the reference ${reference} leads out of the schema`);
  const steps = reference.slice(1).split("/").slice(1);
  return steps.reduce<unknown>((value, step) => {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }, root);
};

const text = ({ format, minLength, maxLength }: Json): object => {
  if (typeof format === "string" && FORMATS.has(format)) return { type: "string", format };
  const most = Math.min(MAX_TEXT, count(maxLength, MAX_TEXT));
  return { type: "string", minLength: Math.min(most, count(minLength, 0)), maxLength: most };
};

const typeOf = (schema: Json): unknown => {
  if (schema.type !== undefined) return schema.type;
  if (schema.properties !== undefined) return "object";
  return schema.items === undefined && schema.prefixItems === undefined ? "string" : "array";
};

/** @throws InputError for an unsupported schema */
export const grammarSchema = (root: Json): object => {
  const list = (schema: Json, depth: number): object => {
    const least = count(schema.minItems, 0);
    const most = Math.max(least, Math.min(MAX_ITEMS, count(schema.maxItems, MAX_ITEMS)));
    return { type: "array", items: convert(schema.items ?? {}, depth + 1), minItems: least, maxItems: most };
  };
  const object = ({ properties }: Json, depth: number): object => ({
    type: "object",
    properties: Object.fromEntries(
      Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => [name, convert(member, depth + 1)]),
    ),
  });
  const oneType = (schema: Json, type: unknown, depth: number): object => {
    if (type === "object") return object(schema, depth);
    if (type === "array") return list(schema, depth);
    if (type === "string") return text(schema);
    if (typeof type === "string" && SCALARS.has(type)) return { type };
    throw new InputError(`schema: there is no type ${JSON.stringify(type)}`);
  };
  const convert = (value: unknown, depth: number): object => {
    if (depth > MAX_DEPTH) throw new InputError(`schema: it is more than ${MAX_DEPTH} levels deep, or refers to itself`);
    if (!isObject(value)) return text({});
    if (typeof value.$ref === "string") return convert(resolved(root, value.$ref), depth + 1);
    if (Array.isArray(value.enum)) return { enum: value.enum.filter((one) => typeof one !== "object" || one === null) };
    if (value.const !== undefined && !isObject(value.const)) return { const: value.const };
    const choices = value.oneOf ?? value.anyOf;
    if (Array.isArray(choices)) return { oneOf: choices.map((choice) => convert(choice, depth + 1)) };
    const type = typeOf(value);
    if (Array.isArray(type)) return { oneOf: type.map((one) => oneType(value, one, depth)) };
    return oneType(value, type, depth);
  };
  return convert(root, 0);
};
