import { z } from "zod";
import { authSchema } from "../transport";

/** OpenAI-compatible chat completions. */
export const openAiChatSchema = z.object({
  kind: z.literal("llm"),
  /** Up to and including the version, for example https://host/v1. */
  baseUrl: z.string(),
  model: z.string(),
  /** Whether the answer is asked for piece by piece. */
  stream: z.boolean().default(false),
  auth: authSchema.optional(),
});
export type OpenAiChatSettings = z.infer<typeof openAiChatSchema>;
