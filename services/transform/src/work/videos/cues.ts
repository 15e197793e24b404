import { scaleOf, type Font, type TextRun } from "../fonts/fonts";
import { InputError } from "../job";
import { brokenInto, joinedWords } from "./lines";

/** One caption. Times are in seconds. */
export interface Cue {
  start: number;
  end: number;
  text: string;
}

interface Word {
  text: string;
  start: number;
  end: number;
}

/** Length of a pause that ends a caption. */
const PAUSE_SECONDS = 0.8;
const LINES = 2;
/** Time for which a caption stays after its last word, unless the next caption starts. */
const LINGER_SECONDS = 0.4;
const SENTENCE_END = /[.!?…。！？]["'”’)]?$/;
const MOST_WORD_CHARACTERS = 200;

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

/** Reads the words from a transcription model's answer: a list, or a member `words` or `segments`. @throws InputError */
export const readWords = (wordsInput: unknown): Word[] => {
  const list = Array.isArray(wordsInput) ? wordsInput.flatMap((one: unknown) => nested(one) ?? [one]) : (nested(wordsInput) ?? []);
  return list.map((one, index) => {
    const { text, word, start, end } = (typeof one === "object" && one !== null ? one : {}) as Record<string, unknown>;
    const wordText = typeof text === "string" ? text : word;
    if (typeof wordText !== "string" || !isNumber(start) || !isNumber(end) || end < start)
      throw new InputError(`words.${index}: must be {text, start, end}, with times in seconds`);
    return { text: wordText.trim().slice(0, MOST_WORD_CHARACTERS), start, end };
  });
};

/** Returns words nested in a model's answer; empty if the model recognized none. */
const nested = (value: unknown): unknown[] | undefined => {
  if (typeof value !== "object" || value === null) return undefined;
  const { words, segments } = value as { words?: unknown; segments?: unknown };
  const lists = [words, segments].filter((list): list is unknown[] => Array.isArray(list));
  return lists.find(({ length }) => length > 0) ?? lists[0];
};

const joined = (words: readonly Word[]): string => words.map(({ text }) => text).reduce(joinedWords);

const cueOf = (words: readonly Word[], characters: number): Cue => ({
  start: words[0]!.start,
  end: words.at(-1)!.end,
  text: brokenInto(joined(words), characters).join("\n"),
});

/** Creates captions of at most two lines. Pauses and ends of sentences end a caption. */
export const cuesOfWords = (words: readonly Word[], characters: number): Cue[] => {
  const sorted = [...words].filter(({ text }) => text !== "").sort((a, b) => a.start - b.start);
  const cues: Cue[] = [];
  let current: Word[] = [];
  const close = (): void => {
    if (current.length > 0) cues.push(cueOf(current, characters));
    current = [];
  };
  for (const word of sorted) {
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

const clock = (seconds: number, digits: number, mark: string): string => {
  const scale = 10 ** digits;
  const ticks = Math.round(seconds * scale);
  const two = (value: number): string => String(value).padStart(2, "0");
  const whole = Math.floor(ticks / scale);
  return `${two(Math.floor(whole / 3_600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${mark}${String(ticks % scale).padStart(digits, "0")}`;
};

/** Formats captions as SubRip, for tracks. */
export const asSrt = (cues: readonly Cue[]): string =>
  cues.map(({ start, end, text }, index) => `${index + 1}\n${clock(start, 3, ",")} --> ${clock(end, 3, ",")}\n${text}\n`).join("\n");

export interface AssStyle {
  width: number;
  height: number;
  /** Font of the style. The captions' parts can have other fonts. */
  font: Font;
  runsOf: (text: string) => readonly TextRun[];
  /** Line height in pixels. */
  size: number;
  /** Color as `#rrggbb`. */
  colour: string;
  position: string;
}

const ALIGNMENTS: Readonly<Record<string, number>> = { bottom: 2, centre: 5, top: 8 };
/** Encoding with which libass detects the text direction. */
const DIRECTION_OF_TEXT = -1;
/** A word joiner after a backslash keeps libass from reading a command. */
const JOINER = "\u2060";

/** Escapes text so that it contains no commands of the format. */
const plain = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, (character) => (character === "\n" ? character : " "))
    .replaceAll("\\", `\\${JOINER}`)
    .replaceAll("{", "\\{")
    .replaceAll("\n", "\\N");

/** Converts `#rrggbb` to blue, green and red. */
const assColour = (colour: string): string => {
  const digits = colour.slice(1);
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
  const [red, green, blue] = [long.slice(0, 2), long.slice(2, 4), long.slice(4, 6)];
  return `&H00${blue}${green}${red}`.toUpperCase();
};

/** Formats captions as Advanced SubStation Alpha, for drawing them into a video. */
export const asAss = (cues: readonly Cue[], { width, height, font, runsOf, size, colour, position }: AssStyle): string => {
  const outline = Math.max(1, size * 0.06).toFixed(1);
  const margin = Math.round(height * 0.05);
  const style = `Style: Default,${font.family},${Math.round(size)},${assColour(colour)},&H000000FF,&H00101010,&H80000000,-1,0,0,0,100,100,0,0,1,${outline},${outline},${ALIGNMENTS[position] ?? 2},${margin},${margin},${margin},${DIRECTION_OF_TEXT}`;
  const assText = (text: string): string =>
    runsOf(text)
      .map((run) => {
        if (run.font.path === font.path) return plain(run.text);
        return `{\\fn${run.font.family}\\fs${Math.round(size * scaleOf(run.font, font))}}${plain(run.text)}{\\fn\\fs}`;
      })
      .join("");
  const events = cues.map(
    ({ start, end, text }) =>
      `Dialogue: 0,${clock(start, 2, ".").slice(1)},${clock(end, 2, ".").slice(1)},Default,,0,0,0,,${assText(text)}`,
  );
  return [
    "[Script Info]",
    "ScriptType: v4.00+",
    `PlayResX: ${width}`,
    `PlayResY: ${height}`,
    "WrapStyle: 0",
    "ScaledBorderAndShadow: yes",
    "",
    "[V4+ Styles]",
    "Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding",
    style,
    "",
    "[Events]",
    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
    ...events,
    "",
  ].join("\n");
};
