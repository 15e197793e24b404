import { AudioLines } from "lucide-react";
import { generator, type Look } from "./look";

export const generateAudio: Look = generator(
  "generate-audio",
  "Audio",
  "audio",
  AudioLines,
  "Makes speech, sound or music with a model",
  "generate audio, sound, sound effect, sfx, generate music, text to audio, foley, audio generation, generate speech, noise, tts model, text to speech model, music model",
);
