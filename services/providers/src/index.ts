import type { ProviderSettings } from "./entries/settings";
import type { ChatSettings } from "./chat/chat-call";
import type { DialectContext, Provider } from "./dialect";
import { anthropic } from "./dialects/anthropic";
import { comfyUi } from "./dialects/comfyui";
import { directHttp } from "./dialects/direct-http";
import { falQueue } from "./dialects/fal-queue";
import { gemini } from "./dialects/gemini";
import { httpPolling } from "./dialects/http-polling";
import { openAiChat } from "./dialects/openai-chat";
import { replicate } from "./dialects/replicate";
import { contextOf } from "./own-server";

/** Dialects by name. A dialect calls the provider of a registry entry. */

const TEXT_DIALECTS: Readonly<Record<string, typeof openAiChat>> = { "openai-chat": openAiChat, anthropic, gemini };

/** Undefined for a dialect that only a later release of the models service knows. */
const textDialectOf = ({ dialect = "openai-chat" }: ChatSettings): typeof openAiChat | undefined =>
  Object.hasOwn(TEXT_DIALECTS, dialect) ? TEXT_DIALECTS[dialect] : undefined;

/** Creates the provider of a registry entry, which the models service has checked. */
export const createProvider = (providerJson: string, dialectContext: DialectContext): Provider => {
  const settings = JSON.parse(providerJson) as ProviderSettings;
  const context = contextOf(dialectContext, settings);
  if (settings.kind === "http-polling") return httpPolling(settings, context);
  const text = settings.kind === "llm" && textDialectOf(settings);
  if (text) return text(settings, context);
  if (settings.kind === "direct-http") return directHttp(settings, context);
  if (settings.kind === "comfyui") return comfyUi(settings, context);
  switch (settings.dialect) {
    case "fal-queue":
      return falQueue(settings, context);
    case "replicate":
      return replicate(settings, context);
    default:
      // A newer release of the models service can have more kinds.
      throw new Error(`this release has no such provider: ${providerKindOf(settings)}`);
  }
};

const providerKindOf = ({ kind, dialect }: Partial<Record<"kind" | "dialect", string>>): string => `${kind} ${dialect ?? ""}`.trim();

export { base64Bytes } from "./base64";
export * from "./dialect";
export * from "./entries/accounts";
export { RESULTS } from "./entries/parts";
export * from "./entries/settings";
export * from "./entries/template";
export type { SentFile } from "./multipart";
export { pointer, readJson } from "./pointer";
export { createTransport, headerKey } from "./transport";
export { storageOf, uploadFile, type UploadedFile as Uploaded } from "./uploads";
