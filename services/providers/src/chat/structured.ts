import { isRecord, jsonInAnswer, type JsonSchema } from "@nodeloom/kernel";
import type { ChatCall } from "./chat-call";

/** Requests JSON that matches a schema, with the provider's JSON mode if it has one, otherwise in the prompt. */

/** Member that wraps an answer whose schema isn't an object, for providers that return only objects. */
const WRAPPED = "answer";

/** Rewrites references that start with `#`, because they break when their schema moves into another one. */
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

/** Wraps a schema for providers that return only objects. */
export const objectSchema = (schema: JsonSchema): JsonSchema =>
  isWrapped(schema)
    ? { type: "object", properties: { [WRAPPED]: moved(schema) }, required: [WRAPPED], additionalProperties: false }
    : schema;

/** Returns the text of an answer without its wrapping object. */
export const unwrapped = (schema: JsonSchema, text: string): string => {
  if (!isWrapped(schema)) return text;
  const answers = jsonInAnswer(text).flatMap(({ value }) => (isRecord(value) && Object.hasOwn(value, WRAPPED) ? [value[WRAPPED]] : []));
  return answers.length > 0 ? JSON.stringify(answers[0]) : text;
};

/** @param inWords adds a description of the response format, for requests without a member for it */
export const systemPrompt = ({ inputs: { system }, schema }: ChatCall, inWords: boolean): string | undefined => {
  const asking = `Answer with JSON alone, without any words or marks around it. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
  const texts = [...(typeof system === "string" && system !== "" ? [system] : []), ...(schema && inWords ? [asking] : [])];
  return texts.length > 0 ? texts.join("\n\n") : undefined;
};

/** Conversation turns that request a corrected response. */
export const repairTurns = ({ repair }: ChatCall): { role: "assistant" | "user"; text: string }[] =>
  repair
    ? [
        { role: "assistant", text: repair.answer },
        {
          role: "user",
          text: `That answer can't be used: ${repair.problems.join("; ")}. Answer again, with JSON alone that fits the schema.`,
        },
      ]
    : [];
