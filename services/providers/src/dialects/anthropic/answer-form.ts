import type { JsonSchema } from "@nodeloom/kernel";
import type { Asked, ChatSettings } from "../../chat/asked";
import { objectSchema } from "../../chat/structured";
import { closedSchema } from "./closed-schema";

/** Ways to request an answer by a schema. */
export type AnswerForm = { by: "mode" | "tool"; schema: JsonSchema } | { by: "words" };

/**
 * Uses the API's own mode if it supports the schema; the input of a tool if the entry says so, because newer models reject requests that
 * force a tool; otherwise the prompt.
 * @returns undefined if any text is a valid answer
 */
export const answerForm = ({ structuredOutput }: ChatSettings, { schema, inputs }: Asked): AnswerForm | undefined => {
  if (!schema) return undefined;
  const wanted = objectSchema(schema);
  // A forced tool would prevent calls of the caller's tools.
  if (structuredOutput === "tool") return inputs.tools === undefined ? { by: "tool", schema: wanted } : { by: "words" };
  const closed = structuredOutput === "json_schema" ? closedSchema(wanted) : undefined;
  return closed ? { by: "mode", schema: closed } : { by: "words" };
};
