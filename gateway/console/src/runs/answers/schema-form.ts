import { isRecord } from "@nodeloom/kernel/graph";

/** Answers of assistants: the form, and the equivalent JSON Schema. */
export type FieldType = "text" | "number" | "whole" | "boolean" | "texts" | "choice";

export interface AnswerField {
  name: string;
  type: FieldType;
  choices: readonly string[];
  /** Description for the model. */
  description: string;
  /** Keywords of the type that the form doesn't show. They are kept until the type changes. */
  more?: Readonly<Record<string, unknown>>;
}

export interface Answer {
  shape: "text" | "list" | "fields";
  /** Fields of `fields` and of list items. If a list has none, its items are texts. */
  fields: readonly AnswerField[];
  /** Minimum items of a list. */
  least: number | undefined;
  most: number | undefined;
}

/** A field with a new type, without the details of the old type. */
export const retyped = ({ name, description, choices }: AnswerField, type: FieldType): AnswerField => ({
  name,
  description,
  choices,
  type,
});

export const TEXT_ANSWER: Answer = { shape: "text", fields: [], least: undefined, most: undefined };

type Schema = Record<string, unknown>;

const described = (schema: Schema, { description }: AnswerField): Schema => (description === "" ? schema : { ...schema, description });

const propertyOf = (field: AnswerField): Schema => ({ ...plainProperty(field), ...field.more });

const plainProperty = (field: AnswerField): Schema => {
  switch (field.type) {
    case "text":
      return described({ type: "string" }, field);
    case "number":
      return described({ type: "number" }, field);
    case "whole":
      return described({ type: "integer" }, field);
    case "boolean":
      return described({ type: "boolean" }, field);
    case "texts":
      return described({ type: "array", items: { type: "string" } }, field);
    case "choice":
      return described({ type: "string", enum: [...field.choices] }, field);
  }
};

const objectOf = (fields: readonly AnswerField[]): Schema => ({
  type: "object",
  required: fields.map(({ name }) => name),
  additionalProperties: false,
  properties: Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)])),
});

/** Schema of an answer; undefined if the answer is any text. */
export const schemaOfAnswer = ({ shape, fields, least, most }: Answer): Schema | undefined => {
  if (shape === "text") return undefined;
  if (shape === "fields") return objectOf(fields);
  return {
    type: "array",
    ...(least === undefined ? {} : { minItems: least }),
    ...(most === undefined ? {} : { maxItems: most }),
    items: fields.length === 0 ? { type: "string" } : objectOf(fields),
  };
};

const PLAIN: ReadonlyMap<unknown, FieldType> = new Map([
  ["string", "text"],
  ["number", "number"],
  ["integer", "whole"],
  ["boolean", "boolean"],
]);

const only = (schema: Schema, ...names: string[]): boolean => Object.keys(schema).every((name) => names.includes(name));
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((one) => typeof one === "string");

const fieldOf = (name: string, property: unknown): AnswerField | undefined => {
  if (!isRecord(property)) return undefined;
  const { type, description = "", enum: choices, items, ...more } = property;
  if (typeof description !== "string") return undefined;
  const field = { name, choices: [] as string[], description, ...(only(more) ? {} : { more }) };
  if (type === "array")
    return choices === undefined && isRecord(items) && items.type === "string" && only(items, "type")
      ? { ...field, type: "texts" }
      : undefined;
  if (items !== undefined) return undefined;
  if (choices !== undefined) return type === "string" && isTexts(choices) ? { ...field, type: "choice", choices } : undefined;
  const plain = PLAIN.get(type);
  return plain && { ...field, type: plain };
};

const fieldsOf = (schema: Schema): AnswerField[] | undefined => {
  if (schema.type !== "object" || !only(schema, "type", "required", "additionalProperties", "properties")) return undefined;
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const required = new Set(Array.isArray(schema.required) ? (schema.required as unknown[]) : []);
  if (schema.additionalProperties !== false || properties.some(([name]) => !required.has(name))) return undefined;
  const fields = properties.map(([name, property]) => fieldOf(name, property));
  return fields.every((field) => field !== undefined) ? fields : undefined;
};

const countOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Form of a schema; undefined if the form can't express it. */
export const answerOfSchema = (schema: unknown): Answer | undefined => {
  if (schema === undefined || schema === null || schema === "") return TEXT_ANSWER;
  if (!isRecord(schema)) return undefined;
  if (schema.type === "object") {
    const fields = fieldsOf(schema);
    return fields && { ...TEXT_ANSWER, shape: "fields", fields };
  }
  if (schema.type !== "array" || !only(schema, "type", "minItems", "maxItems", "items") || !isRecord(schema.items)) return undefined;
  const isPlain = schema.items.type === "string" && only(schema.items, "type");
  const fields = isPlain ? [] : fieldsOf(schema.items);
  return fields && (isPlain || fields.length > 0)
    ? { shape: "list", fields, least: countOf(schema.minItems), most: countOf(schema.maxItems) }
    : undefined;
};

/** Path inside a value: names and list indexes. */
export type Path = readonly (string | number)[];

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** JMESPath expression for a path, over all elements of lists. */
export const expressionOf = (path: Path): string =>
  path.reduce<string>((before, step) => {
    if (typeof step === "number") return `${before}[*]`;
    const name = NAME.test(step) ? step : JSON.stringify(step);
    return before === "" ? name : `${before}.${name}`;
  }, "");
