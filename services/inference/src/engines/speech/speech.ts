import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoadEngine } from "../engine";
import { openSession } from "../pictures";
import { AMERICAN } from "./accents";
import { speakParts } from "./parts";
import { loadPhonemes } from "./phonemes";
import { createVocoder, SAMPLE_RATE, type Frames } from "./vocoder";

/** Token before and after the phonemes. */
const EDGE = 0;

/** Reads English text aloud. The result is a WAV file. */
export const loadSpeech: LoadEngine = async (context) => {
  const folder = context.weights("speech");
  const { onnx, session } = await openSession(context, join(folder, "hibari.onnx"));
  const vocabulary = JSON.parse(await readFile(join(folder, "vocab.json"), "utf8")) as Record<string, number>;
  const phonemes = await loadPhonemes(onnx, folder, AMERICAN);
  const vocoder = createVocoder();

  const speak = async (text: string, speed: number): Promise<Float32Array[]> => {
    const sounds = await phonemes.of(text);
    const ids = [...sounds].flatMap((sound) => vocabulary[sound] ?? []);
    if (ids.length === 0) return [];
    const tokens = BigInt64Array.from([EDGE, ...ids, EDGE], BigInt);
    const frames = await session.run({
      ids: new onnx.Tensor("int64", tokens, [1, tokens.length]),
      speed: new onnx.Tensor("float32", Float32Array.of(speed), [1]),
    });
    return [vocoder(frames as unknown as Frames)];
  };

  return {
    run: (request, report) => {
      const { speed } = request.inputs as { speed: number };
      return speakParts(request, report, { sampleRate: SAMPLE_RATE, speak: (part) => speak(part, speed) });
    },
  };
};
