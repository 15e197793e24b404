import type { JsonSchema } from "@nodeloom/kernel";

/** Turns before the prompt that a text model takes at most. */
const MAX_TURNS = 500;

/** The input of text models for a conversation: what was said before the prompt. @param maxCharacters of one turn */
export const historyInput = (maxCharacters: number): JsonSchema => ({
  type: "array",
  title: "Earlier turns",
  description: "What was said before the prompt, the oldest first.",
  maxItems: MAX_TURNS,
  items: {
    type: "object",
    additionalProperties: false,
    required: ["role", "content"],
    properties: { role: { type: "string", enum: ["user", "assistant"] }, content: { type: "string", maxLength: maxCharacters } },
  },
});
