import type { JsonSchema } from "@nodeloom/kernel";
import type { Asked, ChatSettings } from "../../chat/asked";
import { objectSchema } from "../../chat/structured";
import { closedSchema } from "./closed-schema";

/** How the answer by a schema is asked for. */
export type AnswerForm = { by: "mode" | "tool"; schema: JsonSchema } | { by: "words" };

/**
 * By the API's own mode where that can say the schema; as the input of a tool where the entry says so, since newer models refuse
 * requests that force one; else in words.
 * @returns undefined where any text will do
 */
export const answerForm = ({ structuredOutput }: ChatSettings, { schema, inputs }: Asked): AnswerForm | undefined => {
  if (!schema) return undefined;
  const wanted = objectSchema(schema);
  // A forced tool would keep the model from calling the caller's.
  if (structuredOutput === "tool") return inputs.tools === undefined ? { by: "tool", schema: wanted } : { by: "words" };
  const closed = structuredOutput === "json_schema" ? closedSchema(wanted) : undefined;
  return closed ? { by: "mode", schema: closed } : { by: "words" };
};
