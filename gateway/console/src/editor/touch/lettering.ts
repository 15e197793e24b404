import { anchored, letteringOn, POSITIONS, textBox, type ImageBox, type ImageSize, type Lettering } from "@nodeloom/kernel/graph";
import { clamped } from "./boxes";
import { numberAt, textAt, type Settings } from "./settings";

/** Layout of a text as pango does it: every letter at a whole pixel, lines broken at words, the box around the ink. */

export interface Ink {
  left: number;
  right: number;
  ascent: number;
  descent: number;
}

/** Measures of a font at a size, in pixels. */
export interface Font {
  /** From one letter to the next, with kerning. */
  advance: (letter: string, next: string) => number;
  /** Edges of a drawn letter, from its start on the baseline: right and ascent, left and descent in the other direction. */
  ink: (letter: string) => Ink;
  lineHeight: number;
}

export interface Mark {
  letter: string;
  x: number;
  y: number;
}

/** A text in the size of its ink. */
export interface LaidOut extends ImageSize {
  marks: readonly Mark[];
}

const SEGMENTS = new Intl.Segmenter("und", { granularity: "grapheme" });
const lettersOf = (text: string): string[] => [...SEGMENTS.segment(text)].map(({ segment }) => segment);
const isSpace = (letter: string): boolean => /^\s+$/u.test(letter);

/** End of the line that starts at a letter. Lines end after a space or hyphen; a word that is too long is cut. */
const lineEnd = (letters: readonly string[], from: number, widest: number, { advance }: Font): number => {
  let [width, breakAt] = [0, from];
  for (let at = from; at < letters.length; at += 1) {
    const own = advance(letters[at]!, letters[at + 1] ?? "");
    if (!isSpace(letters[at]!) && width + own > widest && at > from) return breakAt > from ? breakAt : at;
    width += own;
    if (isSpace(letters[at]!) || letters[at] === "-") breakAt = at + 1;
  }
  return letters.length;
};

const linesOf = (text: string, widest: number, font: Font): string[][] =>
  text.split("\n").flatMap((paragraph) => {
    const letters = lettersOf(paragraph);
    const lines: string[][] = [];
    for (let from = 0; from < letters.length || lines.length === 0;) {
      const end = lineEnd(letters, from, widest, font);
      lines.push(letters.slice(from, end));
      if (end === letters.length) break;
      from = end;
    }
    return lines;
  });

const SHARES: Readonly<Record<string, number>> = { left: 0, centre: 0.5, right: 1 };

/** Letters of a line from its start, and its width without spaces at its end. */
const placedOn = (line: readonly string[], font: Font): { width: number; starts: readonly number[] } => {
  const last = line.findLastIndex((letter) => !isSpace(letter));
  const starts: number[] = [];
  let width = 0;
  for (const [at, letter] of line.entries()) {
    starts.push(width);
    if (at <= last) width += font.advance(letter, at === last ? "" : (line[at + 1] ?? ""));
  }
  return { width, starts };
};

/** @returns undefined if nothing of the text is visible */
export const laidOut = (text: string, { widest, spacing }: Lettering, align: string, font: Font): LaidOut | undefined => {
  const marks = linesOf(text, widest, font).flatMap((line, index) => {
    const { width, starts } = placedOn(line, font);
    const start = Math.round((widest - width) * (SHARES[align] ?? 0.5));
    return line.map((letter, at) => ({ letter, x: start + starts[at]!, y: index * (font.lineHeight + spacing) }));
  });
  const visible = marks.filter(({ letter }) => !isSpace(letter));
  if (visible.length === 0) return undefined;
  const inks = visible.map(({ letter, x, y }) => {
    const ink = font.ink(letter);
    return { left: x - ink.left, right: x + ink.right, top: y - ink.ascent, bottom: y + ink.descent };
  });
  const left = Math.floor(Math.min(...inks.map((one) => one.left)));
  const top = Math.floor(Math.min(...inks.map((one) => one.top)));
  return {
    width: Math.ceil(Math.max(...inks.map((one) => one.right))) - left,
    height: Math.ceil(Math.max(...inks.map((one) => one.bottom))) - top,
    marks: visible.map(({ letter, x, y }) => ({ letter, x: x - left, y: y - top })),
  };
};

const DEFAULTS = { size: 0.07, margin: 0.05, position: "bottom" } as const;

export const sizeOf = (settings: Settings): number => numberAt(settings, "size") ?? DEFAULTS.size;
export const positionOf = (settings: Settings): string => textAt(settings, "position") ?? DEFAULTS.position;
export const letteringOf = (settings: Settings, image: ImageSize): Lettering =>
  letteringOn(image, { size: sizeOf(settings), margin: numberAt(settings, "margin") ?? DEFAULTS.margin });

/** The box of a text; "narrow" or "long" if the operation rejects it. */
export const boxOf = (ink: ImageSize, image: ImageSize, lettering: Lettering, position: string): ImageBox | "narrow" | "long" => {
  const { widest, line, margin, padding } = lettering;
  if (widest < line) return "narrow";
  if (ink.height > image.height - 2 * (margin + padding)) return "long";
  return textBox(ink, image, lettering, position);
};

/** The anchor at which a moved box would be nearest. */
export const anchorNear = (box: ImageBox, image: ImageSize, margin: number): string => {
  const distance = (position: string): number => {
    const at = anchored(box, image, { position, margin });
    return Math.hypot(at.left - box.left, at.top - box.top);
  };
  return POSITIONS.toSorted((one, other) => distance(one) - distance(other))[0]!;
};

const ROWS = ["top", "", "bottom"];
const COLUMNS = ["left", "", "right"];

/** The anchor beside another one. */
export const anchorBeside = (position: string, by: { x: number; y: number }): string => {
  const words = position.split("-");
  const stepped = (names: readonly string[], step: number): string => {
    const at = names.findIndex((name) => name !== "" && words.includes(name));
    return names[clamped((at < 0 ? 1 : at) + Math.sign(step), 0, 2)]!;
  };
  return [stepped(ROWS, by.y), stepped(COLUMNS, by.x)].filter(Boolean).join("-") || "centre";
};

const STEPS = 1_000;
/** Size after the box got another height. */
export const sizeAfter = (size: number, before: number, after: number): number =>
  clamped(Math.round(((size * after) / before) * STEPS) / STEPS, 0.01, 0.5);

/** Letters that are laid out one by one. Other scripts join or reorder their letters, or need fonts that the editor doesn't load. */
export const isSimple = (text: string): boolean =>
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{P}\p{N}\p{Sc}\p{Sm}\s]*$/u.test(text);
