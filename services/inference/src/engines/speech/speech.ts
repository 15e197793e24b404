import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError, type LoadEngine } from "../engine";
import type { Onnx } from "../libraries";
import { wavFile } from "../wav";
import { loadPhonemes } from "./phonemes";
import { createVocoder, SAMPLE_RATE, type Frames } from "./vocoder";

/** Longest part of a text that is spoken in one breath. */
const MAX_PART = 280;
const PAUSE_SAMPLES = Math.round(0.12 * SAMPLE_RATE);
/** What stands before and after the phonemes. */
const EDGE = 0;

/** Sentences; of longer ones, what is between commas or words. */
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

const joined = (pieces: readonly Float32Array[]): Float32Array => {
  const sound = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length + PAUSE_SAMPLES, 0));
  let at = 0;
  for (const piece of pieces) {
    sound.set(piece, at);
    at += piece.length + PAUSE_SAMPLES;
  }
  return sound;
};

/** English text in, a WAV of a voice that reads it out. */
export const loadSpeech: LoadEngine = async (context) => {
  const folder = context.weights("speech");
  const onnx = await context.library<Onnx>("onnxruntime-node");
  const session = await onnx.InferenceSession.create(join(folder, "hibari.onnx"), {
    intraOpNumThreads: context.threads,
    interOpNumThreads: 1,
  });
  const vocabulary = JSON.parse(await readFile(join(folder, "vocab.json"), "utf8")) as Record<string, number>;
  const phonemes = await loadPhonemes(onnx, folder);
  const vocoder = createVocoder();

  const speak = async (text: string, speed: number): Promise<Float32Array | undefined> => {
    const sounds = await phonemes.of(text);
    const ids = [...sounds].flatMap((sound) => vocabulary[sound] ?? []);
    if (ids.length === 0) return undefined;
    const tokens = BigInt64Array.from([EDGE, ...ids, EDGE], BigInt);
    const frames = await session.run({
      ids: new onnx.Tensor("int64", tokens, [1, tokens.length]),
      speed: new onnx.Tensor("float32", Float32Array.of(speed), [1]),
    });
    return vocoder(frames as unknown as Frames);
  };

  return {
    run: async ({ inputs, folder: target }, { progress }) => {
      const { prompt, speed } = inputs as { prompt: string; speed: number };
      const parts = partsOf(prompt);
      const pieces: Float32Array[] = [];
      for (const [index, part] of parts.entries()) {
        const piece = await speak(part, speed);
        if (piece) pieces.push(piece);
        progress((index + 1) / parts.length);
      }
      if (pieces.length === 0) throw new InputError("the text has no word that can be spoken; the voice reads English");
      await writeFile(join(target, "speech.wav"), wavFile([joined(pieces)], SAMPLE_RATE));
      return { files: [{ name: "speech.wav", contentType: "audio/wav" }] };
    },
  };
};
