import type { RegistryFile, SentRequest } from "./requests";

/** A library whose types define a valid request to a provider. */

export interface LibraryCheck {
  /** Name of the package. */
  library: string;
  /** A TypeScript type, as an import type of the package or one of its files. */
  type: string;
  /** Texts that a file of the package must contain: the model's id, or the request's path. */
  mentions: { file: string; text: string }[];
  /** Shown beside the library's name. */
  note?: string;
}
/** Reason why a request can't be checked. */
export interface NoCheck {
  none: string;
}

const RUNWAY: Readonly<Record<string, string>> = {
  "/v1/text_to_image": "TextToImage",
  "/v1/text_to_video": "TextToVideo",
  "/v1/image_to_video": "ImageToVideo",
  "/v1/video_to_video": "VideoToVideo",
  "/v1/sound_effect": "SoundEffect",
  "/v1/character_performance": "CharacterPerformance",
};

const runway = (_entry: RegistryFile, { path }: SentRequest): LibraryCheck | NoCheck => {
  const resource = RUNWAY[path];
  if (resource === undefined) return { none: `no type for ${path}` };
  const file = `resources/${path.slice("/v1/".length).replaceAll("_", "-")}.js`;
  return { library: "@runwayml/sdk", type: `import("@runwayml/sdk").default.${resource}CreateParams`, mentions: [{ file, text: path }] };
};

const fal = (
  { provider: { app } }: RegistryFile,
  _request: SentRequest,
  readFile: (library: string, file: string) => string,
): LibraryCheck | NoCheck => {
  const library = "@fal-ai/client";
  if (!readFile(library, "src/types/endpoints.d.ts").includes(`"${app}": {`)) return { none: "the library has no types of it" };
  return { library, type: `import("@fal-ai/client/endpoints").EndpointTypeMap["${app}"]["input"]`, mentions: [] };
};

const OPENAI: Readonly<Record<string, [type: string, file: string]>> = {
  "/v1/images/generations": ["ImageGenerateParams", "resources/images.d.ts"],
  "/v1/images/edits": ["ImageEditParams", "resources/images.d.ts"],
  "/v1/audio/transcriptions": ["Audio.TranscriptionCreateParams", "resources/audio/audio.d.ts"],
  "/v1/chat/completions": ["ChatCompletionCreateParamsStreaming", "resources/shared.d.ts"],
};
const OPENAI_TYPES: Readonly<Record<string, string>> = {
  ImageGenerateParams: `import("openai/resources/images").ImageGenerateParams`,
  ImageEditParams: `import("openai/resources/images").ImageEditParams`,
  "Audio.TranscriptionCreateParams": `import("openai/resources/audio/transcriptions").TranscriptionCreateParams`,
  ChatCompletionCreateParamsStreaming: `import("openai/resources/chat/completions").ChatCompletionCreateParamsStreaming`,
};

const modelIn = ({ provider }: RegistryFile, { body, contentType }: SentRequest): string => {
  if (typeof provider.model === "string") return provider.model;
  if (contentType.startsWith("application/json")) return String((JSON.parse(body) as { model?: unknown }).model);
  return /name="model"\r\n\r\n([^\r]+)/.exec(body)?.[1] ?? "";
};

const openai = (entry: RegistryFile, request: SentRequest): LibraryCheck | NoCheck => {
  const [type, file] = OPENAI[request.path] ?? [];
  if (type === undefined || file === undefined) return { none: `no type for ${request.path}` };
  return { library: "openai", type: OPENAI_TYPES[type]!, mentions: [{ file, text: `'${modelIn(entry, request)}'` }] };
};

const anthropic = (entry: RegistryFile, request: SentRequest): LibraryCheck | NoCheck => {
  if (request.path !== "/v1/messages") return { none: `no type for ${request.path}` };
  const type = `import("@anthropic-ai/sdk/resources/messages").MessageCreateParamsStreaming`;
  const text = `'${modelIn(entry, request)}'`;
  return { library: "@anthropic-ai/sdk", type, mentions: [{ file: "resources/messages/messages.d.ts", text }] };
};

/** The library types the parts of the request, but builds the request itself from other types. */
const GENERATE = `{
  contents: import("@google/genai").Content[];
  systemInstruction?: import("@google/genai").Content;
  generationConfig?: import("@google/genai").GenerationConfig;
}`;

const google = (entry: RegistryFile, request: SentRequest): LibraryCheck | NoCheck => {
  if (!request.path.endsWith(":streamGenerateContent?alt=sse")) return { none: `no type for ${request.path}` };
  const mentions = [{ file: "dist/genai.d.ts", text: `"${modelIn(entry, request)}"` }];
  return { library: "@google/genai", type: `Wire<${GENERATE}>`, mentions };
};

/** Chat in OpenAI's form. */
const compatible = (_entry: RegistryFile, { path }: SentRequest): LibraryCheck | NoCheck => {
  if (!path.endsWith("/chat/completions")) return { none: `no type for ${path}` };
  const note = "its OpenAI-compatible chat";
  return { library: "openai", type: OPENAI_TYPES.ChatCompletionCreateParamsStreaming!, mentions: [], note };
};

const ELEVEN: Readonly<Record<string, string>> = {
  "/v1/music": "music/client/requests/BodyComposeMusicV1MusicPost",
  "/v1/sound-generation": "textToSoundEffects/client/requests/CreateSoundEffectRequest",
  "/v1/text-to-speech": "textToSpeech/client/requests/BodyTextToSpeechFull",
};

const elevenlabs = (
  _entry: RegistryFile,
  { path }: SentRequest,
  readFile: (library: string, file: string) => string,
): LibraryCheck | NoCheck => {
  const entry = Object.entries(ELEVEN).find(([begin]) => path.startsWith(begin));
  if (!entry) return { none: `no type for ${path}` };
  const [begin, file] = entry;
  const library = "@elevenlabs/elevenlabs-js";
  const where = `serialization/resources/${file}`;
  const declared = /export declare namespace (\w+)/.exec(readFile(library, `${where}.d.ts`))?.[1];
  const resource = file.split("/")[0]!;
  return {
    library,
    type: `import("./node_modules/${library}/${where}").${declared}.Raw`,
    mentions: [{ file: `api/resources/${resource}/client/Client.js`, text: begin.slice(1) }],
  };
};

type Check = (entry: RegistryFile, request: SentRequest, readFile: (library: string, file: string) => string) => LibraryCheck | NoCheck;
const none =
  (why: string): Check =>
  () => ({ none: why });

const CHECKS: Readonly<Record<string, Check>> = {
  runway,
  fal,
  openai,
  elevenlabs,
  anthropic,
  google,
  openrouter: compatible,
  xai: compatible,
  deepseek: compatible,
  mistral: compatible,
  moonshot: compatible,
  zai: compatible,
  replicate: none("publishes schemas to customers alone"),
  luma: none("the library knows only older models"),
  alibaba: none("publishes no types"),
  kling: none("publishes no types"),
};

/** Check of an entry's request. @param readFile reads a file of a library */
export const checkOf: Check = (entry, request, readFile) =>
  (CHECKS[entry.company ?? ""] ?? none("no library is known"))(entry, request, readFile);
