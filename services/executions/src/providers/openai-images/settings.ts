import { z } from "zod";
import { authSchema } from "../transport";

/** OpenAI-compatible image generation: one request, answered with the pictures. */
export const openAiImagesSchema = z.object({
  kind: z.literal("direct"),
  dialect: z.literal("openai-images"),
  /** Up to and including the version, for example https://host/v1. */
  baseUrl: z.string(),
  model: z.string(),
  auth: authSchema.optional(),
  /** Members of every request that no input can change. */
  parameters: z.record(z.string(), z.unknown()).default({}),
});
export type OpenAiImagesSettings = z.infer<typeof openAiImagesSchema>;
