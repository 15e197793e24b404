import { cueStyle, type Cue } from "@nodeloom/kernel/captions";
import { scaleOf, type Font, type TextRun } from "../fonts/fonts";

/** Captions as files: SubRip for tracks, Advanced SubStation Alpha for drawing. */

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
  /** Line height as a share of the height. */
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
  const { line, outline, margin } = cueStyle({ height }, size);
  const style = `Style: Default,${font.family},${line},${assColour(colour)},&H000000FF,&H00101010,&H80000000,-1,0,0,0,100,100,0,0,1,${outline.toFixed(1)},${outline.toFixed(1)},${ALIGNMENTS[position] ?? 2},${margin},${margin},${margin},${DIRECTION_OF_TEXT}`;
  const assText = (text: string): string =>
    runsOf(text)
      .map((run) => {
        if (run.font.path === font.path) return plain(run.text);
        return `{\\fn${run.font.family}\\fs${Math.round(size * height * scaleOf(run.font, font))}}${plain(run.text)}{\\fn\\fs}`;
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
