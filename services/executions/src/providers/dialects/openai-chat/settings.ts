import { z } from "zod";
import { authSchema } from "../../transport";

/** OpenAI-compatible chat completions. */
export const openAiChatSchema = z.object({
  kind: z.literal("llm"),
  /** Up to and including the version, for example https://host/v1. */
  baseUrl: z.string(),
  model: z.string(),
  /** Whether the answer is asked for piece by piece. */
  stream: z.boolean().default(false),
  /** What the model calls the most tokens of its answer. */
  tokenLimit: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
  /** How the model is told the schema of its answer; without it, in words. */
  structuredOutput: z.enum(["json_schema"]).optional(),
  auth: authSchema.optional(),
});
export type OpenAiChatSettings = z.infer<typeof openAiChatSchema>;
