import { isRecord } from "@nodeloom/kernel/graph";
import { cuesOfText, cuesOfWords, readWords, type Cue } from "@nodeloom/kernel/captions";
import { numberAt, textAt, type Settings } from "../settings";
import { LEAST_SECONDS, moved, rounded, type Hold, type Range } from "./times";

/** Captions of the settings `words`, `text` and `grouping`, as a list that can be edited. */
export interface CueList {
  cues: readonly Cue[];
  /** Index of the entry that isn't a caption. */
  wrong?: number;
}

const DEFAULT_CHARACTERS = 36;
export const charactersOf = (settings: Settings): number => numberAt(settings, "maxCharacters") ?? DEFAULT_CHARACTERS;

/** True if each entry of `words` is a caption with its own times. */
export const isOwn = ({ words, grouping }: Settings): boolean => Array.isArray(words) && grouping === "none";

/** An end before the start is kept while it is typed; the list says that it is wrong. */
const entryOf = (entry: unknown): Cue | undefined => {
  const { text, start, end } = isRecord(entry) ? entry : {};
  const isCue = typeof text === "string" && typeof start === "number" && typeof end === "number";
  return isCue ? { text, start, end } : undefined;
};

/** The captions of a video, by the rules of the operation. @param whole length of the video */
export const cuesIn = (settings: Settings, whole: number): CueList => {
  const { words } = settings;
  if (isOwn(settings)) {
    const cues = (words as unknown[]).map(entryOf);
    const wrong = cues.indexOf(undefined);
    return wrong < 0 ? { cues: cues.filter((cue) => cue !== undefined) } : { cues: [], wrong };
  }
  const text = textAt(settings, "text") ?? "";
  const isByWords = words !== undefined && words !== null && !(Array.isArray(words) && words.length === 0 && text !== "");
  if (!isByWords) return { cues: cuesOfText(text, whole, charactersOf(settings)).map(cueWithRoundTimes) };
  const timed = readWords(words);
  if (typeof timed === "number") return { cues: [], wrong: timed };
  return { cues: cuesOfWords(timed, charactersOf(settings)).map(cueWithRoundTimes) };
};

const cueWithRoundTimes = (cue: Cue): Cue => ({ ...cue, start: rounded(cue.start), end: rounded(cue.end) });

/** Settings for a list of captions; each keeps exactly its times. */
export const cueChanges = (cues: readonly Cue[]): Settings => ({ words: cues, text: undefined, grouping: "none" });

/** Time around a caption until its neighbours. */
const roomAround = (cues: readonly Cue[], index: number, whole: number): Range => {
  const own = cues[index]!;
  const others = cues.filter((_, at) => at !== index);
  const before = others.filter(({ end, start }) => end <= own.start && start < own.start).map(({ end }) => end);
  const after = others.filter(({ start }) => start >= own.end).map(({ start }) => start);
  return { start: Math.max(0, ...before), end: Math.min(whole, ...after) };
};

export const withCue = (cues: readonly Cue[], index: number, cue: Partial<Cue>): Cue[] =>
  cues.map((one, at) => (at === index ? { ...one, ...cue } : one));

/** Captions after an edge of one, or all of it, was moved to a time. It stops at its neighbours. */
export const withMoved = (cues: readonly Cue[], index: number, hold: Hold, to: number, whole: number): Cue[] =>
  withCue(cues, index, moved(cues[index]!, hold, to, roomAround(cues, index, whole)));

export const withoutCue = (cues: readonly Cue[], index: number): Cue[] => cues.filter((_, at) => at !== index);

const NEW_SECONDS = 2;

/**
 * Adds a caption at a time, as long as there is room. Inside of another caption it follows that caption.
 * @returns undefined without room
 */
export const withNewCue = (cues: readonly Cue[], at: number, whole: number, text: string): { cues: Cue[]; index: number } | undefined => {
  const sorted = cues.toSorted((one, other) => one.start - other.start);
  const start = sorted.reduce((time, cue) => (cue.start <= time && time < cue.end ? cue.end : time), rounded(at));
  const end = Math.min(rounded(start + NEW_SECONDS), whole, ...sorted.filter((cue) => cue.start >= start).map((cue) => cue.start));
  if (end - start < LEAST_SECONDS) return undefined;
  const index = sorted.filter((cue) => cue.start < start).length;
  return { cues: sorted.toSpliced(index, 0, { text, start, end }), index };
};

/** Captions at a time, in order. */
export const cuesAt = (cues: readonly Cue[], time: number): Cue[] => cues.filter(({ start, end }) => start <= time && time < end);

const SHOWN = 300;
/** Part of a long list around the chosen caption. */
export const shownPart = (count: number, chosen: number): { from: number; to: number } => {
  const from = Math.max(0, Math.min(chosen - SHOWN / 2, count - SHOWN));
  return { from, to: Math.min(count, from + SHOWN) };
};
