import type { ImageSize } from "@nodeloom/kernel/graph";
import type { CueStyle } from "@nodeloom/kernel/captions";

/** Layout of captions as libass does it: lines are broken where they become too wide, and then balanced. */

type Measure = (text: string) => number;

const greedy = (words: readonly string[], widest: number, measure: Measure): string[][] => {
  const lines: string[][] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last && measure([...last, word].join(" ")) <= widest) last.push(word);
    else lines.push([word]);
  }
  return lines;
};

/** Moves last words to the next line while that makes the two lines more equal. */
const balanced = (lines: readonly string[][], measure: Measure): string[][] => {
  const widths = (words: readonly string[]): number => measure(words.join(" "));
  let current = lines.map((line) => [...line]);
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (let at = 0; at + 1 < current.length; at += 1) {
      const [line, next] = [current[at]!, current[at + 1]!];
      if (line.length < 2) continue;
      const [shorter, longer] = [line.slice(0, -1), [line.at(-1)!, ...next]];
      if (Math.abs(widths(shorter) - widths(longer)) >= Math.abs(widths(line) - widths(next))) continue;
      current = current.with(at, shorter).with(at + 1, longer);
      isChanged = true;
    }
  }
  return current;
};

/** Lines of a caption inside a width. */
export const wrapped = (text: string, widest: number, measure: Measure): string[] =>
  text.split("\n").flatMap((line) => {
    const words = line.split(" ").filter(Boolean);
    return balanced(greedy(words, widest, measure), measure).map((part) => part.join(" "));
  });

export interface CueLine {
  text: string;
  /** Top edge of the line. */
  top: number;
}

/** Lines of captions that are visible at once. Later captions lie beyond earlier ones. */
export const stacked = (
  captions: readonly (readonly string[])[],
  { height }: Pick<ImageSize, "height">,
  { line, margin }: CueStyle,
  position: string,
): CueLine[] => {
  const heights = captions.map((lines) => lines.length * line);
  return captions.flatMap((lines, index) => {
    const before = heights.slice(0, index).reduce((sum, one) => sum + one, 0);
    const top =
      position === "top"
        ? margin + before
        : position === "centre"
          ? (height - heights[0]!) / 2 + before
          : height - margin - before - heights[index]!;
    return lines.map((text, at) => ({ text, top: top + at * line }));
  });
};
