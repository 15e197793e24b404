/** Members of JSON Schema that the controls use. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export const propertiesOf = (schema: JsonSchema | undefined): [string, JsonSchema][] =>
  isRecord(schema?.properties)
    ? Object.entries(schema.properties).filter((entry): entry is [string, JsonSchema] => isRecord(entry[1]))
    : [];
