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
  if (settings.kind === "http-polling") return httpPolling(settings, context);
  if (settings.kind === "llm") return openAiChat(settings, context);
  if (settings.kind === "direct-http") throw new Error("this release does not call direct-http providers yet");
  switch (settings.dialect) {
    case "fal-queue":
      return falQueue(settings, context);
    case "replicate":
      return replicate(settings, context);
    case "openai-images":
      return openAiImages(settings, context);
    case "speech":
      return speech(settings, context);
    default:
      // A later release of models may know more of them.
      throw new Error(`this release has no such provider: ${providerKindOf(settings)}`);
  }
};

const providerKindOf = ({ kind, dialect }: Partial<Record<"kind" | "dialect", string>>): string => `${kind} ${dialect ?? ""}`.trim();

export * from "./dialect";
