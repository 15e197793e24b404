import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError, type EngineRequest, type EngineResult, type Report } from "../engine";
import { wavFile } from "../wav";

/** Speaks long texts in parts. */

/** Maximum characters that are spoken at once. */
const MAX_PART = 280;
const PAUSE_SECONDS = 0.12;

/** Splits a text into sentences. Long sentences are split at commas or between words. */
const partsOf = (text: string): string[] =>
  text.split(/(?<=[.!?…])\s+|\n+/).flatMap((sentence) => {
    const parts: string[] = [];
    let rest = sentence.trim();
    while (rest.length > MAX_PART) {
      const head = rest.slice(0, MAX_PART);
      const at = Math.max(head.lastIndexOf(", ") + 1, head.lastIndexOf("; ") + 1) || head.lastIndexOf(" ") || MAX_PART;
      parts.push(rest.slice(0, at > 0 ? at : MAX_PART));
      rest = rest.slice(at > 0 ? at : MAX_PART).trim();
    }
    return rest === "" ? parts : [...parts, rest];
  });

/** Concatenates audio pieces, with a pause after each. */
const joined = (pieces: readonly Float32Array[], sampleRate: number): Float32Array => {
  const pause = Math.round(PAUSE_SECONDS * sampleRate);
  const sound = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length + pause, 0));
  let at = 0;
  for (const piece of pieces) {
    sound.set(piece, at);
    at += piece.length + pause;
  }
  return sound;
};

/**
 * Speaks a text part by part into a WAV file.
 * @param speak returns the audio of one part in one or more pieces; none for a part without words
 * @throws InputError for a text without words
 */
export const speakParts = async (
  { inputs, folder }: EngineRequest,
  { progress }: Report,
  { sampleRate, speak }: { sampleRate: number; speak: (part: string) => Promise<Float32Array[]> },
): Promise<EngineResult> => {
  const parts = partsOf(String(inputs.prompt));
  const pieces: Float32Array[] = [];
  for (const [index, part] of parts.entries()) {
    pieces.push(...(await speak(part)));
    progress((index + 1) / parts.length);
  }
  if (pieces.length === 0) throw new InputError("the text has no word that can be spoken; the voice reads English");
  await writeFile(join(folder, "speech.wav"), wavFile([joined(pieces, sampleRate)], sampleRate));
  return { files: [{ name: "speech.wav", contentType: "audio/wav" }] };
};
