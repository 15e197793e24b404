import type { ImageSize } from "../graph/operations/geometry";
import { brokenInto, joinedWords } from "./lines";

/** Captions of a video. The transform service and previews in a browser share them. They are apart from the graph, so that only these load them. */

/** One caption. Times are in seconds. */
export interface Cue {
  start: number;
  end: number;
  text: string;
}

/** A word or a caption with its times, as transcription models return them. */
export type TimedText = Cue;

/** Length of a pause that ends a caption. */
const PAUSE_SECONDS = 0.8;
const LINES = 2;
/** Time for which a caption stays after its last word, unless the next caption starts. */
const LINGER_SECONDS = 0.4;
const SENTENCE_END = /[.!?…。！？]["'”’)]?$/;
export const MOST_WORD_CHARACTERS = 200;

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

/** Returns words nested in a model's answer; empty if the model recognized none. */
const nested = (value: unknown): unknown[] | undefined => {
  if (typeof value !== "object" || value === null) return undefined;
  const { words, segments } = value as { words?: unknown; segments?: unknown };
  const lists = [words, segments].filter((list): list is unknown[] => Array.isArray(list));
  return lists.find(({ length }) => length > 0) ?? lists[0];
};

/** Entry of a list of words; undefined if it isn't one. */
const timedText = (entry: unknown): TimedText | undefined => {
  const { text, word, start, end } = (typeof entry === "object" && entry !== null ? entry : {}) as Record<string, unknown>;
  const wordText = typeof text === "string" ? text : word;
  if (typeof wordText !== "string" || !isNumber(start) || !isNumber(end) || end < start) return undefined;
  return { text: wordText.trim().slice(0, MOST_WORD_CHARACTERS), start, end };
};

/**
 * Reads the words from a transcription model's answer: a list, or a member `words` or `segments`.
 * @returns the index of the first wrong entry if there is one
 */
export const readWords = (wordsInput: unknown): TimedText[] | number => {
  const list = Array.isArray(wordsInput) ? wordsInput.flatMap((one: unknown) => nested(one) ?? [one]) : (nested(wordsInput) ?? []);
  const words = list.map(timedText);
  const wrong = words.indexOf(undefined);
  return wrong < 0 ? words.filter((word) => word !== undefined) : wrong;
};

const sortedByStart = (words: readonly TimedText[]): TimedText[] =>
  words.filter(({ text }) => text !== "").toSorted((a, b) => a.start - b.start);

const joined = (words: readonly TimedText[]): string => words.map(({ text }) => text).reduce(joinedWords);

const cueOf = (words: readonly TimedText[], characters: number): Cue => ({
  start: words[0]!.start,
  end: words.at(-1)!.end,
  text: brokenInto(joined(words), characters).join("\n"),
});

/** Creates captions of at most two lines. Pauses and ends of sentences end a caption. */
export const cuesOfWords = (words: readonly TimedText[], characters: number): Cue[] => {
  const cues: Cue[] = [];
  let current: TimedText[] = [];
  const close = (): void => {
    if (current.length > 0) cues.push(cueOf(current, characters));
    current = [];
  };
  for (const word of sortedByStart(words)) {
    const last = current.at(-1);
    const isFull = brokenInto(joined([...current, word]), characters).length > LINES;
    if (last && (isFull || word.start - last.end > PAUSE_SECONDS || SENTENCE_END.test(last.text))) close();
    current.push(word);
  }
  close();
  return cues.map((cue, index) => {
    const next = cues[index + 1]?.start ?? Infinity;
    return { ...cue, end: Math.max(cue.start, Math.min(cue.end + LINGER_SECONDS, next)) };
  });
};

/** Shows each entry as a caption at exactly its times. Line breaks of the text are kept, and long lines are broken. */
export const cuesOfEntries = (entries: readonly TimedText[], characters: number): Cue[] =>
  sortedByStart(entries).map((entry) => ({
    ...entry,
    text: entry.text
      .split("\n")
      .flatMap((line) => brokenInto(line, characters))
      .join("\n"),
  }));

/** Creates captions for a text without times. The duration of each is proportional to its length. */
export const cuesOfText = (text: string, seconds: number, characters: number): Cue[] => {
  const sentences = text.split(/(?<=[.!?…])\s+|(?<=[。！？])\s*|\n+/).filter((one) => one.trim() !== "");
  const cards = sentences.flatMap((sentence) => {
    const lines = brokenInto(sentence, characters);
    return Array.from({ length: Math.ceil(lines.length / LINES) }, (_, index) =>
      lines.slice(index * LINES, (index + 1) * LINES).join("\n"),
    );
  });
  const all = cards.reduce((sum, one) => sum + one.length, 0);
  let at = 0;
  return cards.map((one) => {
    const start = at;
    at += (seconds * one.length) / all;
    return { start, end: at, text: one };
  });
};

export interface CueStyle {
  /** Line height in pixels. */
  line: number;
  /** Width of the outline and offset of the shadow, in pixels. */
  outline: number;
  /** Distance from the edges. */
  margin: number;
}

const OUTLINE = 0.06;
const MARGIN = 0.05;

/** Measures of captions that are drawn on a video. @param size line height as a share of the video's height */
export const cueStyle = ({ height }: Pick<ImageSize, "height">, size: number): CueStyle => ({
  line: Math.round(size * height),
  outline: Math.round(Math.max(1, size * height * OUTLINE) * 10) / 10,
  margin: Math.round(height * MARGIN),
});
