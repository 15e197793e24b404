import { isRecord } from "@nodeloom/kernel";
import type { ListedModel, Task } from "./server-record";

/** Determines the task of a listed model from its server's metadata, or otherwise from its name. */

/** Name patterns, the most specific first. */
const NAMES: readonly (readonly [RegExp, Task])[] = [
  [/embed|rerank|\bbge\b|minilm|\be5-|guard|moderation|reward/, "none"],
  [/whisper|transcri|parakeet|canary|\basr\b|moonshine/, "transcribe"],
  [/\btts\b|kokoro|piper|speech|orpheus|\bbark\b|\bxtts|chatterbox|\bdia\b/, "speech"],
  [
    /flux|stable-?diffusion|\bsdxl?\b|\bsd-?(?:\d|cpp)|dall-?e|(?:gpt|qwen|z|glm|hunyuan)-?image|imagen|dreamshaper|animagine|\bsana\b/,
    "image",
  ],
];
const SEEING = /vision|\bvl\b|-vl-|\d-?vl\b|llava|pixtral|moondream|minicpm-v|gemma-?[34]|internvl|omni|multimodal/;

/** Task names that servers use: `type` (LM Studio, Together), `mode` (LiteLLM), `task` (other servers). */
const WORDS: Readonly<Record<string, Task>> = {
  llm: "chat",
  vlm: "chat",
  chat: "chat",
  completion: "chat",
  language: "chat",
  "text-generation": "chat",
  generate: "chat",
  image: "image",
  image_generation: "image",
  "text-to-image": "image",
  audio: "speech",
  audio_speech: "speech",
  "text-to-speech": "speech",
  text_to_speech: "speech",
  tts: "speech",
  stt: "transcribe",
  asr: "transcribe",
  "speech-to-text": "transcribe",
  speech_to_text: "transcribe",
  transcribe: "transcribe",
  transcription: "transcribe",
  audio_transcription: "transcribe",
  "automatic-speech-recognition": "transcribe",
  embedding: "none",
  embeddings: "none",
  rerank: "none",
  moderation: "none",
};

const textsOf = (value: unknown): string[] => [value].flat().filter((one): one is string => typeof one === "string");

/** Reads modalities in OpenRouter's form, nested or at the top level. */
const modalities = (model: Readonly<Record<string, unknown>>, side: "input" | "output"): string[] => {
  const name = `${side}_modalities`;
  const { architecture } = model;
  return textsOf((isRecord(architecture) ? architecture[name] : undefined) ?? model[name]);
};

const saidTask = (model: Readonly<Record<string, unknown>>): Task | undefined => {
  const [takes, gives] = [modalities(model, "input"), modalities(model, "output")];
  // `type: "audio"` could mean either task.
  if (takes.length > 0 && takes.every((one) => one === "audio") && !gives.includes("audio")) return "transcribe";
  const words = ["type", "mode", "task", "model_type"].flatMap((name) => textsOf(model[name]));
  const [taskOfWord] = words.flatMap((word) => (Object.hasOwn(WORDS, word.toLowerCase()) ? [WORDS[word.toLowerCase()]!] : []));
  if (taskOfWord) return taskOfWord;
  if (gives.includes("image")) return "image";
  if (gives.includes("text")) return "chat";
  return gives.includes("audio") || gives.includes("speech") ? "speech" : undefined;
};

const saysItSees = (model: Readonly<Record<string, unknown>>): boolean | undefined => {
  const { type, capabilities } = model;
  const inputKinds = modalities(model, "input");
  if (inputKinds.length > 0) return inputKinds.includes("image");
  const can = textsOf(capabilities);
  if (can.length > 0) return can.some((one) => /vision|multimodal|image/.test(one));
  return type === "vlm" ? true : undefined;
};

/** Parses one element of a server's list; undefined without an id. */
export const listedModel = (model: unknown): ListedModel | undefined => {
  if (!isRecord(model) || typeof model.id !== "string" || model.id === "") return undefined;
  const name = model.id.toLowerCase().replaceAll("_", "-");
  const taskOfName = NAMES.find(([part]) => part.test(name))?.[1] ?? "chat";
  const task = saidTask(model) ?? taskOfName;
  return { id: model.id, task, sees: task === "chat" && (saysItSees(model) ?? SEEING.test(name)) };
};
