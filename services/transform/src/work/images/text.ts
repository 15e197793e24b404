import sharp, { type OverlayOptions } from "sharp";
import { letteringOn, textBox, type Lettering as Measures } from "@nodeloom/kernel";
import { fontsOf, isBlank, mainFont, runsOf, type TextRun } from "../fonts/fonts";
import { loadFonts } from "../fonts/load";
import { fileAt, InputError, isOn, number, text, type Operation } from "../job";
import { openImage, reading } from "./open";
import { writeChanged } from "./frames";

const HEX = 16;
const DOTS_PER_INCH = 72;
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Escapes text for pango. */
const plain = (value: string): string => value.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** Converts `#rgb`, `#rrggbb` or `#rrggbbaa` to pango's color and alpha. */
const pangoColour = (value: string): { colour: string; alpha: string } => {
  const digits = value.slice(1);
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
  const alpha = long.length > 6 ? parseInt(long.slice(6), HEX) / 255 : 1;
  return { colour: `#${long.slice(0, 6)}`, alpha: `${Math.max(1, Math.round(alpha * 100))}%` };
};

interface Lettering {
  foreground: { colour: string; alpha: string };
  measures: Measures;
  isBold: boolean;
  align: "centre" | "left" | "right";
}

/** Renders the text on a transparent background, each part in its font. */
const drawRuns = async (
  runs: readonly TextRun[],
  { foreground: { colour, alpha }, measures: { line, spacing, widest: width }, isBold, align }: Lettering,
) => {
  const main = mainFont(isBold ? "bold" : "regular");
  await loadFonts(fontsOf(runs));
  const parts = runs.map(({ text: part, font }) => `<span face="${font.family}">${plain(part)}</span>`).join("");
  return sharp({
    text: {
      text: `<span foreground="${colour}" alpha="${alpha}">${parts}</span>`,
      font: `${main.family}${isBold ? " Bold" : ""} ${line}`,
      fontfile: main.path,
      dpi: DOTS_PER_INCH,
      width,
      wrap: "word-char",
      align,
      spacing,
      rgba: true,
    },
  })
    .png()
    .toBuffer({ resolveWithObject: true });
};

/** Draws a title or caption in a box that is at most as wide as the image. */
export const write: Operation = async (job) => {
  if (isBlank(text(job, "text"))) throw new InputError("text: has no visible character");
  const picture = await openImage(job, fileAt(job, "image"), true);
  const measures = letteringOn(picture, { size: number(job, "size"), margin: number(job, "margin") });
  const { margin, padding } = measures;
  if (measures.widest < measures.line) throw new InputError("the image is too narrow for text of that size");
  const rendered = await drawRuns(runsOf(text(job, "text"), isOn(job, "bold") ? "bold" : "regular", "text"), {
    foreground: pangoColour(text(job, "colour")),
    measures,
    isBold: isOn(job, "bold"),
    align: text(job, "align") as "centre",
  });
  const { info } = rendered;
  if (info.height > picture.height - 2 * (margin + padding)) throw new InputError("the text is too long for the image at that size");
  const { left, top, ...box } = textBox(info, picture, measures, text(job, "position"));
  const layers: OverlayOptions[] = [
    { input: { create: { ...box, channels: 4, background: text(job, "background") } }, left, top },
    { input: rendered.data, left: left + padding, top: top + padding },
  ];
  return reading("image", () => writeChanged(job, picture, (frame) => frame.composite(layers)));
};
