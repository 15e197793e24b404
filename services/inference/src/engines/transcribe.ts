import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError, type LoadEngine } from "./engine";
import type { Whisper } from "./libraries";

const SAMPLE_RATE = 16_000;
const MAX_SECONDS = 900;
const MIN_SECONDS = 0.1;
/** Whisper returns nothing for less than a second of audio, so shorter audio is padded with silence. */
const SHORTEST_SAMPLES = Math.round(1.1 * SAMPLE_RATE);

interface Word {
  text: string;
  start: number;
  end: number;
}

/** Whisper's output for audio without speech. */
const NO_SPEECH = /^[[(*♪].*$/;

const TURNS = 1_000;

/** Another thread reports the words: wait until they cover the text. */
const allHeard = async (text: string, words: readonly Word[]): Promise<void> => {
  const letters = text.replace(/\s/g, "").length;
  const heard = (): number => words.reduce((sum, word) => sum + word.text.replace(/\s/g, "").length, 0);
  for (let turn = 0; turn < TURNS && heard() < letters; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** The location of a model's weights. */
interface Listener {
  asset: string;
  file: string;
}

/** Detect the language. */
const ANY_LANGUAGE = "auto";
const ENGLISH = "en";

/** Transcribes audio of any common format: text, its language, and words with times in seconds. */
const createTranscribe =
  ({ asset, file }: Listener): LoadEngine =>
  async (context) => {
    const library = await context.library<Whisper>("@napi-rs/whisper");
    const whisper = new library.Whisper(join(context.weights(asset), file));

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

    const languageOf = (asked: unknown): string => {
      if (!whisper.isMultilingual) return ENGLISH;
      if (typeof asked !== "string") return ANY_LANGUAGE;
      if (library.Whisper.langId(asked) < 0) throw new InputError(`language: ${asked} is none that the model knows`);
      return asked;
    };

    return {
      run: async ({ inputs, files }, { progress }) => {
        const language = languageOf(inputs.language);
        const samples = await samplesOf(files.audio!);
        const params = new library.WhisperFullParams(library.WhisperSamplingStrategy.Greedy);
        const heard: Word[] = [];
        Object.assign(params, {
          language,
          nThreads: context.threads,
          printProgress: false,
          printRealtime: false,
          printTimestamps: false,
          noTimestamps: false,
          // One word per segment, or one phrase in languages without spaces.
          tokenTimestamps: true,
          splitOnWord: true,
          maxLen: 1,
        });
        params.onProgress = (percent) => progress(percent / 100);
        params.onNewSegment = ({ text, start, end }) => heard.push({ text: text.trim(), start: start / 100, end: end / 100 });
        const whole = whisper.full(params, padded(samples));
        await allHeard(whole, heard);
        const words = heard.filter(({ text }) => text !== "" && !NO_SPEECH.test(text));
        // The full text has the correct spaces for its language.
        const isAllSpeech = heard.every(({ text }) => !NO_SPEECH.test(text));
        const text = isAllSpeech ? whole.trim() : words.map((word) => word.text).join(" ");
        const found = whisper.isMultilingual ? library.Whisper.lang(whisper.fullLangId) : null;
        return { text, json: { text, language: found ?? language, duration: samples.length / SAMPLE_RATE, words } };
      },
    };
  };

export const loadTranscribe = createTranscribe({ asset: "transcribe", file: "whisper-tiny-en.ggml" });
export const loadLanguages = createTranscribe({ asset: "languages", file: "whisper-base.ggml" });
