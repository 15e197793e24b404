import { isRecord, type JsonSchema } from "@nodeloom/kernel";
import type { ProviderSettings } from "@nodeloom/platform";
import type { TextOptions } from "../../dialect";
import { readJson } from "../../pointer";

/** How a model is asked for JSON by a schema: by `response_format` where it has that, else in words. */

export type ChatSettings = Extract<ProviderSettings, { kind: "llm" }>;
type Asked = Pick<TextOptions, "schema" | "repair">;

/** The member that an answer is in whose schema is not that of an object: the API takes no others. */
const WRAPPED = "answer";

/** The root of a schema is meant by `#` alone: references lead somewhere else once it is inside another. */
const moved = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(moved);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "$ref" && typeof member === "string" && member.startsWith("#") ? `#/properties/${WRAPPED}${member.slice(1)}` : moved(member),
    ]),
  );
};

const isWrapped = (schema: JsonSchema): boolean => schema.type !== "object";

const sentSchema = (schema: JsonSchema): JsonSchema =>
  isWrapped(schema)
    ? { type: "object", properties: { [WRAPPED]: moved(schema) }, required: [WRAPPED], additionalProperties: false }
    : schema;

/** What a request says of the form of its answer. */
export const responseFormat = ({ structuredOutput }: ChatSettings, { schema }: Asked): Record<string, unknown> =>
  schema && structuredOutput
    ? { response_format: { type: "json_schema", json_schema: { name: "answer", schema: sentSchema(schema) } } }
    : {};

/** What the system prompt says of the form of the answer, where the request does not. */
export const instruction = ({ structuredOutput }: ChatSettings, { schema }: Asked): string[] =>
  schema && !structuredOutput
    ? [`Answer with JSON alone, without any words or marks around it. It must fit this JSON Schema:\n${JSON.stringify(schema)}`]
    : [];

/** The turns of a conversation that ask for a better answer. */
export const repairTurns = ({ repair }: Asked): unknown[] =>
  repair
    ? [
        { role: "assistant", content: repair.answer },
        {
          role: "user",
          content: `That answer can't be used: ${repair.problems.join("; ")}. Answer again, with JSON alone that fits the schema.`,
        },
      ]
    : [];

/** The text of an answer without what it was wrapped in. */
export const unwrapped = ({ structuredOutput }: ChatSettings, { schema }: Asked, text: string): string => {
  if (!schema || !structuredOutput || !isWrapped(schema)) return text;
  const answer = readJson(text)?.value;
  return isRecord(answer) && Object.hasOwn(answer, WRAPPED) ? JSON.stringify(answer[WRAPPED]) : text;
};
