import type { ProviderSettings } from "@nodeloom/platform";
import type { DialectContext, Provider } from "./dialect";
import { falQueue } from "./dialects/fal-queue";
import { httpPolling } from "./dialects/http-polling";
import { openAiChat } from "./dialects/openai-chat";
import { openAiImages } from "./dialects/openai-images";
import { replicate } from "./dialects/replicate";
import { speech } from "./dialects/speech";

/** The provider that a registry entry describes, as models has checked it. */
export const createProvider = (providerJson: string, context: DialectContext): Provider => {
  const settings = JSON.parse(providerJson) as ProviderSettings;
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
