import { AudioLines } from "lucide-react";
import { generator, type Look } from "./look";

export const generateAudio: Look = generator(
  "generate-audio",
  "Audio",
  "audio",
  AudioLines,
  "Makes speech, sound or music with a model",
  "generate text to audio music speech voice sound tts song",
);
