import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { EngineContext, LoadEngine } from "../engine";
import { openSession } from "../pictures";
import { AMERICAN, BRITISH } from "./accents";
import { speakParts } from "./parts";
import { loadPhonemes, type Phonemes } from "./phonemes";

const SAMPLE_RATE = 24_000;
const WEIGHTS = ["voices-1", "voices-2", "voices-3", "voices-4"];
/** Token before and after the phonemes. */
const EDGE = 0;
/** Maximum phonemes per call, because a voice file has one style vector per length. */
const MAX_PHONEMES = 508;
const STYLE_FLOATS = 256;

/** Joins the weights, which are split into four assets. */
const readWeights = async ({ weights }: EngineContext): Promise<Buffer> =>
  Buffer.concat(await Promise.all(WEIGHTS.map((asset) => readFile(join(weights(asset), "part.bin")))));

/** Splits phonemes into pieces of at most the model's maximum length, after a word if possible. */
const pieces = (sounds: string): string[] => {
  if (sounds.length <= MAX_PHONEMES) return [sounds];
  const at = sounds.lastIndexOf(" ", MAX_PHONEMES);
  const end = at > 0 ? at : MAX_PHONEMES;
  return [sounds.slice(0, end), ...pieces(sounds.slice(end))];
};

/** Reads English text aloud with a named voice. The result is a WAV file. */
export const loadVoices: LoadEngine = async (context) => {
  const { onnx, session } = await openSession(context, await readWeights(context));
  const { vocab } = JSON.parse(await readFile(join(context.weights("voices-phonemes"), "vocab.json"), "utf8")) as {
    vocab: Record<string, number>;
  };
  const lexicons = new Map<string, Promise<Phonemes>>();
  /** The first letter of a voice's name selects its accent. */
  const phonemesOf = (voice: string): Promise<Phonemes> => {
    const accent = voice.startsWith("b") ? BRITISH : AMERICAN;
    const folder = context.weights(accent === BRITISH ? "voices-british" : "speech");
    const phonemes = lexicons.get(accent.suffix) ?? loadPhonemes(onnx, folder, accent);
    lexicons.set(accent.suffix, phonemes);
    return phonemes;
  };

  const say = async (sounds: string, styles: Float32Array, speed: number): Promise<Float32Array[]> => {
    const ids = [...sounds].flatMap((sound) => vocab[sound] ?? []);
    if (ids.length === 0) return [];
    const tokens = BigInt64Array.from([EDGE, ...ids, EDGE], BigInt);
    const style = styles.slice(ids.length * STYLE_FLOATS, (ids.length + 1) * STYLE_FLOATS);
    const output = await session.run({
      [session.inputNames[0]!]: new onnx.Tensor("int64", tokens, [1, tokens.length]),
      style: new onnx.Tensor("float32", style, [1, STYLE_FLOATS]),
      speed: new onnx.Tensor("float32", Float32Array.of(speed), [1]),
    });
    return [output[session.outputNames[0]!]!.data as Float32Array];
  };

  return {
    run: async (request, report) => {
      const { voice, speed } = request.inputs as { voice: string; speed: number };
      const phonemes = await phonemesOf(voice);
      const file = await readFile(join(context.weights("voices-styles"), `${voice}.bin`));
      const styles = new Float32Array(file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength));
      const speak = async (part: string): Promise<Float32Array[]> => {
        const samples: Float32Array[] = [];
        for (const sounds of pieces(await phonemes.of(part))) samples.push(...(await say(sounds, styles, speed)));
        return samples;
      };
      return speakParts(request, report, { sampleRate: SAMPLE_RATE, speak });
    },
  };
};
