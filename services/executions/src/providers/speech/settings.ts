import { z } from "zod";
import { authSchema } from "../transport";

/** Speech as ElevenLabs offers it: one request, answered with the sound itself. */
export const speechSchema = z.object({
  kind: z.literal("direct"),
  dialect: z.literal("speech"),
  baseUrl: z.string(),
  model: z.string(),
  /** Who speaks unless the input `voice` says otherwise. */
  voice: z.string(),
  /** The provider's name of a format, for example mp3_44100_128. */
  outputFormat: z.string().optional(),
  auth: authSchema.optional(),
  /** Members of every request that no input can change. */
  parameters: z.record(z.string(), z.unknown()).default({}),
});
export type SpeechSettings = z.infer<typeof speechSchema>;
