import type { JsonSchema } from "@nodeloom/kernel";
import type { ChatCall, ChatSettings } from "../../chat/chat-call";
import { objectSchema } from "../../chat/structured";
import { closedSchema } from "./closed-schema";

/** Ways to request an answer that matches a schema. */
export type AnswerForm = { by: "mode" | "tool"; schema: JsonSchema } | { by: "words" };

/**
 * Uses the API's JSON mode if it supports the schema. If the entry says so, uses the input of a tool instead; newer models reject requests
 * that force a tool. Otherwise uses the prompt.
 * @returns undefined if any text is a valid answer
 */
export const answerForm = ({ structuredOutput }: ChatSettings, { schema, inputs }: ChatCall): AnswerForm | undefined => {
  if (!schema) return undefined;
  const objectForm = objectSchema(schema);
  // A forced tool would prevent calls of the caller's tools.
  if (structuredOutput === "tool") return inputs.tools === undefined ? { by: "tool", schema: objectForm } : { by: "words" };
  const closed = structuredOutput === "json_schema" ? closedSchema(objectForm) : undefined;
  return closed ? { by: "mode", schema: closed } : { by: "words" };
};
