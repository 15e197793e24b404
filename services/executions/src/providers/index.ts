import { z } from "zod";
import type { DialectContext, Provider } from "./dialect";
import { httpPolling, httpPollingSchema } from "./http-polling";
import { inferencePlatform, inferencePlatformSchema } from "./inference-platform";
import { llmSchema, openAiChat } from "./openai-chat";

const providerSchema = z.discriminatedUnion("kind", [httpPollingSchema, inferencePlatformSchema, llmSchema]);

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
      return inferencePlatform(settings, context);
    case "llm":
      return openAiChat(settings, context);
  }
};

export * from "./dialect";
