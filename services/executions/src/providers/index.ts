import { z } from "zod";
import type { DialectContext, Provider } from "./dialect";
import { falQueue, falQueueSchema } from "./fal-queue";
import { httpPolling, httpPollingSchema } from "./http-polling";
import { openAiChat, openAiChatSchema } from "./openai-chat";
import { openAiImages, openAiImagesSchema } from "./openai-images";
import { replicate, replicateSchema } from "./replicate";
import { speech, speechSchema } from "./speech";

const providerSchema = z.discriminatedUnion("kind", [
  httpPollingSchema,
  z.discriminatedUnion("dialect", [falQueueSchema, replicateSchema]),
  openAiChatSchema,
  z.discriminatedUnion("dialect", [openAiImagesSchema, speechSchema]),
]);

/**
 * The provider that a registry entry describes.
 * @throws ZodError when its settings are not those of its kind.
 */
export const createProvider = (providerJson: string, context: DialectContext): Provider => {
  const settings = providerSchema.parse(JSON.parse(providerJson));
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
