import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError, type LoadEngine } from "./engine";
import type { Whisper } from "./libraries";

const SAMPLE_RATE = 16_000;
const MAX_SECONDS = 900;
const MIN_SECONDS = 0.1;
/** Whisper answers nothing for less than a second: what is shorter is followed by silence. */
const SHORTEST_SAMPLES = Math.round(1.1 * SAMPLE_RATE);

interface Word {
  text: string;
  start: number;
  end: number;
}

/** What Whisper writes where nobody speaks. */
const NO_SPEECH = /^[[(*♪].*$/;

const TURNS = 1_000;

/** Words are called out by another thread: waits until they are all that the text has. */
const allHeard = async (text: string, words: readonly Word[]): Promise<void> => {
  const letters = text.replace(/\s/g, "").length;
  const heard = (): number => words.reduce((sum, word) => sum + word.text.replace(/\s/g, "").length, 0);
  for (let turn = 0; turn < TURNS && heard() < letters; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Sound of any usual format in; text, and words with their times in seconds, out. */
export const loadTranscribe: LoadEngine = async (context) => {
  const library = await context.library<Whisper>("@napi-rs/whisper");
  const whisper = new library.Whisper(join(context.weights("transcribe"), "whisper-tiny-en.ggml"));

  const samplesOf = async (path: string): Promise<Float32Array> => {
    const bytes = await readFile(path);
    const samples = await library.decodeAudioAsync(bytes, path).catch((error: unknown) => {
      throw new InputError(`the sound can't be read: ${error instanceof Error ? error.message : String(error)}`);
    });
    const seconds = samples.length / SAMPLE_RATE;
    if (seconds < MIN_SECONDS) throw new InputError("the sound is empty");
    if (seconds > MAX_SECONDS) throw new InputError(`the sound is ${Math.round(seconds)} s long; at most ${MAX_SECONDS} s are taken`);
    return samples;
  };

  const padded = (samples: Float32Array): Float32Array => {
    if (samples.length >= SHORTEST_SAMPLES) return samples;
    const longer = new Float32Array(SHORTEST_SAMPLES);
    longer.set(samples);
    return longer;
  };

  return {
    run: async ({ files }, { progress }) => {
      const samples = await samplesOf(files.audio!);
      const params = new library.WhisperFullParams(library.WhisperSamplingStrategy.Greedy);
      const words: Word[] = [];
      Object.assign(params, {
        language: "en",
        nThreads: context.threads,
        printProgress: false,
        printRealtime: false,
        printTimestamps: false,
        noTimestamps: false,
        // Each segment is one word.
        tokenTimestamps: true,
        splitOnWord: true,
        maxLen: 1,
      });
      params.onProgress = (percent) => progress(percent / 100);
      params.onNewSegment = ({ text, start, end }) => words.push({ text: text.trim(), start: start / 100, end: end / 100 });
      await allHeard(whisper.full(params, padded(samples)), words);
      const spoken = words.filter(({ text }) => text !== "" && !NO_SPEECH.test(text));
      const text = spoken.map((word) => word.text).join(" ");
      return { text, json: { text, language: "en", duration: samples.length / SAMPLE_RATE, words: spoken } };
    },
  };
};
