/** A JSON schema, as far as a control needs it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** The inputs of a schema, by name. */
export const propertiesOf = (schema: JsonSchema | undefined): [string, JsonSchema][] =>
  isRecord(schema?.properties)
    ? Object.entries(schema.properties).filter((entry): entry is [string, JsonSchema] => isRecord(entry[1]))
    : [];
