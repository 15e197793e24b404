import { z } from "zod";
import type { DialectContext, Provider } from "./dialect";
import { falQueue, falQueueSchema } from "./fal-queue";
import { httpPolling, httpPollingSchema } from "./http-polling";
import { openAiChat, openAiChatSchema } from "./openai-chat";
import { replicate, replicateSchema } from "./replicate";

const providerSchema = z.discriminatedUnion("kind", [
  httpPollingSchema,
  z.discriminatedUnion("dialect", [falQueueSchema, replicateSchema]),
  openAiChatSchema,
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
  }
};

export * from "./dialect";
