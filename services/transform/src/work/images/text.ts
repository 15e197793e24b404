import { dirname, join } from "node:path";
import sharp, { type OverlayOptions } from "sharp";
import { fileAt, InputError, isOn, number, text, type Operation } from "../job";
import { formatOf, openImage, reading, writeImage } from "./open";
import { placed } from "./place";

const FONTS = dirname(require.resolve("@expo-google-fonts/noto-sans/package.json"));
/** The fonts that are shipped: their files, and the name that they have inside. */
export const FONT_NAME = "Noto Sans";
export const FONT_FILES = {
  regular: join(FONTS, "400Regular", "NotoSans_400Regular.ttf"),
  bold: join(FONTS, "700Bold", "NotoSans_700Bold.ttf"),
} as const;

const HEX = 16;
const DOTS_PER_INCH = 72;
/** Space around the text inside its box, as a share of a line. */
const PADDING = 0.35;
const LINE_SPACING = 0.15;
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Text that pango takes as it is. */
const plain = (value: string): string => value.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** `#rgb`, `#rrggbb` or `#rrggbbaa` as pango writes it: a colour and its opacity. */
const pangoColour = (value: string): { colour: string; alpha: string } => {
  const digits = value.slice(1);
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
  const alpha = long.length > 6 ? parseInt(long.slice(6), HEX) / 255 : 1;
  return { colour: `#${long.slice(0, 6)}`, alpha: `${Math.max(1, Math.round(alpha * 100))}%` };
};

/** A title or a caption on an image, in a box that is no wider than the image. */
export const write: Operation = async (job) => {
  const picture = await openImage(fileAt(job, "image"));
  const line = Math.max(8, Math.round(number(job, "size") * picture.height));
  const margin = Math.round(number(job, "margin") * picture.height);
  const padding = Math.round(line * PADDING);
  const widest = picture.width - 2 * (margin + padding);
  if (widest < line) throw new InputError("the image is too narrow for text of that size");
  const { colour, alpha } = pangoColour(text(job, "colour"));
  const isBold = isOn(job, "bold");
  const rendered = await sharp({
    text: {
      text: `<span foreground="${colour}" alpha="${alpha}">${plain(text(job, "text"))}</span>`,
      font: `${FONT_NAME}${isBold ? " Bold" : ""} ${line}`,
      fontfile: isBold ? FONT_FILES.bold : FONT_FILES.regular,
      dpi: DOTS_PER_INCH,
      width: widest,
      wrap: "word-char",
      align: text(job, "align") as "centre",
      spacing: Math.round(line * LINE_SPACING),
      rgba: true,
    },
  })
    .png()
    .toBuffer({ resolveWithObject: true });
  const { info } = rendered;
  if (info.height > picture.height - 2 * (margin + padding)) throw new InputError("the text is too long for the image at that size");
  const box = { width: info.width + 2 * padding, height: info.height + 2 * padding };
  const at = placed(box, picture, { position: text(job, "position"), margin });
  const layers: OverlayOptions[] = [
    { input: { create: { ...box, channels: 4, background: text(job, "background") } }, ...at },
    { input: rendered.data, left: at.left + padding, top: at.top + padding },
  ];
  return reading("image", () => writeImage(picture.pipeline().composite(layers), job.folder, formatOf(picture)));
};
