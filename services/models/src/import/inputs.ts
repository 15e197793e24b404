import { member } from "@nodeloom/kernel";
import { at, isJson, type Json } from "./draft";

/** Converts a provider's published schema into model inputs. */

const MAX_INPUTS = 60;
const MAX_DEPTH = 6;
const MAX_TEXT = 1_000;
const MAX_PROMPT = 10_000;
const MAX_COUNT = 4;
const SCALARS = new Set(["string", "integer", "number", "boolean"]);
/** Keywords to copy, by type. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength"],
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
  boolean: [],
};
const COUNTS = new Set(["num_images", "num_outputs", "number_of_images", "n"]);
const FILE = /(?:^|_)(image|mask|photo|frame|video|audio|voice|file)s?(?:_(?:url|uri|path))?s?(?:_\d+)?$/;
const KINDS: Readonly<Record<string, string>> = {
  image: "image",
  mask: "image",
  photo: "image",
  frame: "image",
  video: "video",
  audio: "audio",
  voice: "audio",
};
const LENGTH = /^(\d{1,4})(s?)$/;

export interface Inputs {
  properties: Record<string, Json>;
  required: string[];
  /** Body of the request with the provider's input names. */
  body: Record<string, unknown>;
  files: string[];
  notes: string[];
}

/** Resolves references and alternatives. Of several alternatives, takes the first one with an enum or a scalar type. */
export const plain = (schema: unknown, components: Json, depth = 0): Json => {
  if (!isJson(schema) || depth > MAX_DEPTH) return {};
  const { $ref: reference, allOf, anyOf, oneOf, ...rest } = schema;
  if (typeof reference === "string") {
    const target = at(components, reference.split("/").pop() ?? "");
    return { ...plain(target, components, depth + 1), ...rest };
  }
  if (Array.isArray(allOf))
    return Object.fromEntries([...allOf.map((one) => plain(one, components, depth + 1)), rest].flatMap(Object.entries)) as Json;
  const alternatives = [anyOf, oneOf].find(Array.isArray)?.map((one) => plain(one, components, depth + 1));
  if (!alternatives) return rest;
  const usable = alternatives.filter(({ type }) => type !== "null");
  const usual = usable.find((one) => Array.isArray(one.enum)) ?? usable.find(({ type }) => SCALARS.has(String(type))) ?? usable[0] ?? {};
  return { ...usual, ...rest };
};

const words = ({ title, description }: Json, name: string): Json => ({
  title: typeof title === "string" && title !== "" ? title.slice(0, MAX_TEXT) : name,
  ...(typeof description === "string" && description !== "" ? { description: description.slice(0, MAX_TEXT) } : {}),
});

const isDefault = (value: unknown, { type, enum: values }: Json): boolean => {
  if (Array.isArray(values)) return values.includes(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
};

const scalar = (schema: Json, name: string): Json | undefined => {
  const values = Array.isArray(schema.enum) ? schema.enum.filter((value) => value !== null) : undefined;
  const type = typeof schema.type === "string" ? schema.type : values && typeof values[0];
  if (typeof type !== "string" || !SCALARS.has(type)) return undefined;
  const bounds = values ? [] : KEPT[type]!.filter((keyword) => typeof schema[keyword] === "number");
  const property: Json = {
    type,
    ...words(schema, name),
    ...(values ? { enum: values } : {}),
    ...Object.fromEntries(bounds.map((keyword) => [keyword, schema[keyword]])),
  };
  return isDefault(schema.default, property) ? { ...property, default: schema.default } : property;
};

/** Returns the file family of an input, based on its name: empty for any family, undefined if it isn't a file. */
const fileKind = (name: string, schema: Json): string | undefined => {
  if (schema.type !== "string" || Array.isArray(schema.enum)) return undefined;
  const [, word] = FILE.exec(name.toLowerCase()) ?? [];
  const isAddress = schema.format === "uri" || /url|uri/i.test(name);
  return word !== undefined && isAddress ? (member(KINDS, word) ?? "") : isAddress ? "" : undefined;
};

const file = (kind: string, schema: Json, name: string): Json => ({
  type: "string",
  format: "media",
  ...(kind === "" ? {} : { contentMediaType: `${kind}/*` }),
  ...words(schema, name),
  minLength: 1,
});

/** Converts a number of seconds that the provider expects as text, with or without a unit. */
const seconds = (schema: Json): { property: Json; template: unknown } | undefined => {
  if (Array.isArray(schema.enum)) {
    const lengths = schema.enum.map((value) => LENGTH.exec(String(value)));
    const unit = lengths[0]?.[2] ?? "";
    if (lengths.length === 0 || lengths.some((match) => match?.[2] !== unit)) return undefined;
    const values = lengths.map((match) => Number(match![1]));
    const [, usualLength] = LENGTH.exec(String(schema.default)) ?? [];
    const isText = typeof schema.enum[0] === "string";
    return {
      property: {
        type: "integer",
        title: "Seconds",
        default: usualLength === undefined ? values[0] : Number(usualLength),
        enum: values,
        maximum: Math.max(...values),
      },
      template: isText ? `\${seconds}${unit}` : { $input: "seconds" },
    };
  }
  if ((schema.type !== "integer" && schema.type !== "number") || typeof schema.maximum !== "number") return undefined;
  const usual = isDefault(schema.default, schema) ? schema.default : (schema.minimum ?? 1);
  return { property: { ...scalar(schema, "Seconds"), title: "Seconds", default: usual }, template: { $input: "seconds" } };
};

/** Converts an object schema into model inputs. @param components referenced schemas by name */
export const inputsOf = (schema: unknown, components: Json): Inputs => {
  const inputs: Inputs = { properties: {}, required: [], body: {}, files: [], notes: [] };
  const required = at(schema, "required");
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const add = (name: string, property: Json, templateValue: unknown, called = name): void => {
    inputs.properties[called] = property;
    inputs.body[name] = templateValue;
    if (isRequired(name)) inputs.required.push(called);
  };
  const leaveOut = (name: string, why: string): void => void inputs.notes.push(`the input ${name} is left out: ${why}`);
  const properties = Object.entries((at(schema, "properties") ?? {}) as Json);
  for (const [name, published] of properties.slice(0, MAX_INPUTS)) {
    const property = plain(published, components);
    const item = plain(property.items, components);
    const kind = fileKind(name, property);
    const itemKind = property.type === "array" ? fileKind(name, item) : undefined;
    const length = name === "duration" ? seconds(property) : undefined;
    if (!/^(?!__proto__$)[A-Za-z_]\w*$/.test(name)) leaveOut(name, "its name can't be one here");
    else if (name === "sync_mode" && property.type === "boolean") continue;
    else if (length) add(name, length.property, length.template, "seconds");
    else if (COUNTS.has(name))
      add(name, { type: "integer", title: "Pictures", default: 1, minimum: 1, maximum: MAX_COUNT }, { $input: "count" }, "count");
    else if (kind !== undefined || itemKind !== undefined) {
      const one = file(kind ?? itemKind ?? "", property, name);
      add(name, kind === undefined ? { type: "array", ...words(property, name), items: one, minItems: 1 } : one, { $input: name });
      inputs.files.push(name);
    } else {
      const scalarProperty = scalar(property, name);
      if (scalarProperty)
        add(
          name,
          name === "prompt" && scalarProperty.maxLength === undefined
            ? { ...scalarProperty, minLength: 1, maxLength: MAX_PROMPT }
            : scalarProperty,
          {
            $input: name,
          },
        );
      else leaveOut(name, "only texts, numbers, choices and files are carried over");
    }
  }
  if (properties.length > MAX_INPUTS) inputs.notes.push(`only the first ${MAX_INPUTS} of ${properties.length} inputs are carried over`);
  return inputs;
};
