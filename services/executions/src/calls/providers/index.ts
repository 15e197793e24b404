import type { ProviderSettings } from "@nodeloom/platform";
import type { DialectContext, Provider } from "./dialect";
import { directHttp } from "./dialects/direct-http";
import { falQueue } from "./dialects/fal-queue";
import { httpPolling } from "./dialects/http-polling";
import { openAiChat } from "./dialects/openai-chat";
import { replicate } from "./dialects/replicate";

/** The provider that a registry entry describes, as models has checked it. */
export const createProvider = (providerJson: string, context: DialectContext): Provider => {
  const settings = JSON.parse(providerJson) as ProviderSettings;
  if (settings.kind === "http-polling") return httpPolling(settings, context);
  if (settings.kind === "llm") return openAiChat(settings, context);
  if (settings.kind === "direct-http") return directHttp(settings, context);
  switch (settings.dialect) {
    case "fal-queue":
      return falQueue(settings, context);
    case "replicate":
      return replicate(settings, context);
    default:
      // A later release of models may know more of them.
      throw new Error(`this release has no such provider: ${providerKindOf(settings)}`);
  }
};

const providerKindOf = ({ kind, dialect }: Partial<Record<"kind" | "dialect", string>>): string => `${kind} ${dialect ?? ""}`.trim();

export * from "./dialect";
