import type { JsonSchema } from "../prices/price";
import { maxFiles, takesFiles, uploadType, type InputField } from "./fields";
import { fileOf, resultFamily } from "./media";

/** JSON Schemas of a workflow's inputs and result, for agents. */

/** Schema of a field's type. It is only an approximation: `fieldProblem` decides whether a value is valid. */
const typeSchema = (field: InputField): JsonSchema => {
  const { type, options = [], min, max } = field;
  const file = uploadType(field);
  if (file) {
    const one = { type: "string", description: `${fileOf(file)}: an http(s) URL, a data URL, or the id of an uploaded file` };
    if (takesFiles(field)) return { type: "array", items: one, ...(field.required ? { minItems: 1 } : {}), maxItems: maxFiles(field) };
    const isOptional = !field.required && field.default !== undefined;
    return isOptional ? { ...one, description: `${one.description}; empty text for no file` } : one;
  }
  switch (type) {
    case "text":
    case "textarea":
      return {
        type: "string",
        ...(min === undefined ? {} : { minLength: Math.max(0, Math.ceil(min)) }),
        ...(max === undefined ? {} : { maxLength: Math.max(0, Math.floor(max)) }),
      };
    case "number":
      return { type: "number", ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
    case "boolean":
      return { type: "boolean" };
    case "select":
      return { type: "string", ...(options.length === 0 ? {} : { enum: [...new Set(options)] }) };
    default:
      return {};
  }
};

const fieldSchema = (field: InputField): JsonSchema => ({
  ...(field.label === field.name ? {} : { title: field.label }),
  ...typeSchema(field),
  ...(field.default === undefined ? {} : { default: field.default }),
});

/** Schema of a workflow's inputs. If a name is repeated, its first field applies. */
export const fieldsSchema = (fields: readonly InputField[]): JsonSchema => {
  const byName = new Map([...fields].reverse().map((field) => [field.name, field]));
  const ordered = fields.filter((field) => byName.get(field.name) === field);
  return {
    type: "object",
    properties: Object.fromEntries(ordered.map((field) => [field.name, fieldSchema(field)])),
    required: ordered.filter((field) => field.required && field.default === undefined).map(({ name }) => name),
    additionalProperties: false,
  };
};

const memberSchema = (name: string): JsonSchema => {
  const family = resultFamily(name);
  if (!family) return {};
  const file = { type: "object", properties: { url: { type: "string", description: `where ${fileOf(family)} is` } }, required: ["url"] };
  return { type: "array", items: file };
};

/** Schema of a result. No member is required, because a switch can leave it empty. */
export const resultSchema = (members: readonly string[]): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(members.map((name) => [name, memberSchema(name)])),
});
