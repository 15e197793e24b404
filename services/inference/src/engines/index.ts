import { loadChat } from "./chat/chat";
import { loadCutout } from "./cutout";
import { loadDiffusion } from "./diffusion/diffusion";
import { loadEmbeddings } from "./embeddings/embeddings";
import type { LoadEngine } from "./engine";
import { loadMusic } from "./music/music";
import { loadOcr } from "./ocr";
import { loadSpeech } from "./speech/speech";
import { loadVoices } from "./speech/voices";
import { loadLanguages, loadTranscribe } from "./transcribe";
import { loadTween } from "./tween";
import { loadRestore, loadUpscale } from "./upscale";

export const ENGINES = {
  chat: loadChat,
  cutout: loadCutout,
  diffusion: loadDiffusion,
  embeddings: loadEmbeddings,
  languages: loadLanguages,
  music: loadMusic,
  ocr: loadOcr,
  restore: loadRestore,
  speech: loadSpeech,
  transcribe: loadTranscribe,
  tween: loadTween,
  upscale: loadUpscale,
  voices: loadVoices,
} as const satisfies Record<string, LoadEngine>;

export type EngineName = keyof typeof ENGINES;
