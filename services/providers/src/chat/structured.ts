import { isRecord, jsonInAnswer, type JsonSchema } from "@nodeloom/kernel";
import type { Asked } from "./asked";

/** How a model is asked for JSON by a schema: by its provider's mode for that, else in words. */

/** The member that an answer is in whose schema is not that of an object, where a provider takes no others. */
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

/** A schema as providers take it that answer with objects alone. */
export const objectSchema = (schema: JsonSchema): JsonSchema =>
  isWrapped(schema)
    ? { type: "object", properties: { [WRAPPED]: moved(schema) }, required: [WRAPPED], additionalProperties: false }
    : schema;

/** The text of an answer without the object that it was wrapped in. */
export const unwrapped = (schema: JsonSchema, text: string): string => {
  if (!isWrapped(schema)) return text;
  const answers = jsonInAnswer(text).flatMap(({ value }) => (isRecord(value) && Object.hasOwn(value, WRAPPED) ? [value[WRAPPED]] : []));
  return answers.length > 0 ? JSON.stringify(answers[0]) : text;
};

/** The system prompt. @param inWords whether it says what the answer must look like, since nothing else in the request does */
export const systemPrompt = ({ inputs: { system }, schema }: Asked, inWords: boolean): string | undefined => {
  const asking = `Answer with JSON alone, without any words or marks around it. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
  const texts = [...(typeof system === "string" && system !== "" ? [system] : []), ...(schema && inWords ? [asking] : [])];
  return texts.length > 0 ? texts.join("\n\n") : undefined;
};

/** The turns of a conversation that ask for a better answer. */
export const repairTurns = ({ repair }: Asked): { role: "assistant" | "user"; text: string }[] =>
  repair
    ? [
        { role: "assistant", text: repair.answer },
        {
          role: "user",
          text: `That answer can't be used: ${repair.problems.join("; ")}. Answer again, with JSON alone that fits the schema.`,
        },
      ]
    : [];
