import { z } from "zod";
import type { DialectContext, Provider } from "./dialect";
import { falQueue, falQueueSchema } from "./dialects/fal-queue";
import { httpPolling, httpPollingSchema } from "./dialects/http-polling";
import { openAiChat, openAiChatSchema } from "./dialects/openai-chat";
import { openAiImages, openAiImagesSchema } from "./dialects/openai-images";
import { replicate, replicateSchema } from "./dialects/replicate";
import { speech, speechSchema } from "./dialects/speech";

const providerSchema = z.discriminatedUnion("kind", [
  httpPollingSchema,
  z.discriminatedUnion("dialect", [falQueueSchema, replicateSchema]),
  openAiChatSchema,
  z.discriminatedUnion("dialect", [openAiImagesSchema, speechSchema]),
]);

/** Whether requests tell the provider the trace that they are part of. */
const tracedSchema = z.object({ traceparent: z.boolean().default(false) });

/**
 * The provider that a registry entry describes.
 * @throws ZodError when its settings are not those of its kind.
 */
export const createProvider = (providerJson: string, given: DialectContext): Provider => {
  const entry: unknown = JSON.parse(providerJson);
  const settings = providerSchema.parse(entry);
  const { traceparent: propagatesTrace } = tracedSchema.parse(entry);
  const context = { ...given, propagatesTrace };
  switch (settings.kind) {
    case "http-polling":
      return httpPolling(settings, context);
    case "inference-platform":
      return settings.dialect === "fal-queue" ? falQueue(settings, context) : replicate(settings, context);
    case "llm":
      return openAiChat(settings, context);
    case "direct":
      return settings.dialect === "openai-images" ? openAiImages(settings, context) : speech(settings, context);
  }
};

export * from "./dialect";
