import { join } from "node:path";
import { decodeSound, ffmpegIn } from "./decode";
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

/** Whisper writes sounds other than speech between signs: "(phone ringing)", "[BLANK_AUDIO]", "*music*". */
const CLOSING: ReadonlyMap<string, string> = new Map([
  ["(", ")"],
  ["[", "]"],
  ["*", "*"],
  ["♪", "♪"],
]);

/** Removes words between such signs. If a sign isn't closed, only its own word is removed. */
export const spoken = (words: readonly Word[]): Word[] => {
  const keptWords: Word[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const { text } = words[at]!;
    const closing = CLOSING.get(text.charAt(0));
    if (closing === undefined) {
      if (text !== "") keptWords.push(words[at]!);
      continue;
    }
    const isClosedBy = (one: Word, index: number): boolean =>
      index >= at && (index === at ? one.text.slice(1) : one.text).includes(closing);
    at = Math.max(at, words.findIndex(isClosedBy));
  }
  return keptWords;
};

const TURNS = 1_000;

/** Waits until the reported words cover the text, because another thread reports them. */
const allHeard = async (text: string, words: readonly Word[]): Promise<void> => {
  const letters = text.replace(/\s/g, "").length;
  const letterCount = (): number => words.reduce((sum, word) => sum + word.text.replace(/\s/g, "").length, 0);
  for (let turn = 0; turn < TURNS && letterCount() < letters; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Location of a model's weights. */
interface Listener {
  asset: string;
  file: string;
}

/** Value that lets Whisper detect the language. */
const ANY_LANGUAGE = "auto";
const ENGLISH = "en";

/** Transcribes the audio of a file to text, its language, and words with times in seconds. */
const createTranscribe =
  ({ asset, file }: Listener): LoadEngine =>
  async (context) => {
    const library = await context.library<Whisper>("@napi-rs/whisper");
    const whisper = new library.Whisper(join(context.weights(asset), file));

    const ffmpeg = await ffmpegIn(context.weights("ffmpeg"));

    const samplesOf = async (path: string): Promise<Float32Array> => {
      const samples = await decodeSound(path, { ffmpeg, sampleRate: SAMPLE_RATE, maxSeconds: MAX_SECONDS + 1 });
      const seconds = samples.length / SAMPLE_RATE;
      if (seconds < MIN_SECONDS) throw new InputError("the sound is empty");
      if (seconds > MAX_SECONDS)
        throw new InputError(`the sound is longer than ${MAX_SECONDS} s, the most that can be transcribed: cut it into parts`);
      return samples;
    };

    const padded = (samples: Float32Array): Float32Array => {
      if (samples.length >= SHORTEST_SAMPLES) return samples;
      const longer = new Float32Array(SHORTEST_SAMPLES);
      longer.set(samples);
      return longer;
    };

    const languageOf = (language: unknown): string => {
      if (!whisper.isMultilingual) return ENGLISH;
      if (typeof language !== "string") return ANY_LANGUAGE;
      if (library.Whisper.langId(language) < 0) throw new InputError(`language: the model doesn't know ${language}`);
      return language;
    };

    return {
      run: async ({ inputs, files }, { progress }) => {
        const language = languageOf(inputs.language);
        const samples = await samplesOf(files.audio!);
        const params = new library.WhisperFullParams(library.WhisperSamplingStrategy.Greedy);
        const heardWords: Word[] = [];
        Object.assign(params, {
          language,
          nThreads: context.threads,
          printProgress: false,
          printRealtime: false,
          printTimestamps: false,
          noTimestamps: false,
          // Makes each segment one word, or one phrase in languages without spaces.
          tokenTimestamps: true,
          splitOnWord: true,
          maxLen: 1,
        });
        params.onProgress = (percent) => progress(percent / 100);
        params.onNewSegment = ({ text, start, end }) => heardWords.push({ text: text.trim(), start: start / 100, end: end / 100 });
        const whole = whisper.full(params, padded(samples));
        await allHeard(whole, heardWords);
        const words = spoken(heardWords);
        // The full text is preferred, because its spaces are correct for its language.
        const isAllSpeech = words.length === heardWords.filter(({ text }) => text !== "").length;
        const text = isAllSpeech ? whole.trim() : words.map((word) => word.text).join(" ");
        const detected = whisper.isMultilingual ? library.Whisper.lang(whisper.fullLangId) : null;
        return { text, json: { text, language: detected ?? language, duration: samples.length / SAMPLE_RATE, words } };
      },
    };
  };

export const loadTranscribe = createTranscribe({ asset: "transcribe", file: "whisper-tiny-en.ggml" });
export const loadLanguages = createTranscribe({ asset: "languages", file: "whisper-base.ggml" });
