import { loadChat } from "./chat/chat";
import { loadCutout } from "./cutout";
import type { LoadEngine } from "./engine";
import { loadMusic } from "./music/music";
import { loadOcr } from "./ocr";
import { loadSpeech } from "./speech/speech";
import { loadVoices } from "./speech/voices";
import { loadTranscribe } from "./transcribe";
import { loadTween } from "./tween";
import { loadUpscale } from "./upscale";

/** Every engine, by the name by which a model names it. */
export const ENGINES = {
  chat: loadChat,
  cutout: loadCutout,
  music: loadMusic,
  ocr: loadOcr,
  speech: loadSpeech,
  transcribe: loadTranscribe,
  tween: loadTween,
  upscale: loadUpscale,
  voices: loadVoices,
} as const satisfies Record<string, LoadEngine>;

export type EngineName = keyof typeof ENGINES;
