import { dirname, join } from "node:path";
import { InputError } from "../job";
import { tablesOf, type FontTables } from "./tables";

/**
 * Selects a bundled font for each part of a text. System fonts are never used, so that a text looks equal on every machine. A character
 * that no font has is rejected instead of being drawn as a box.
 */

export type Weight = "regular" | "bold";

export interface Font {
  /** Family name in the font file, by which libass and pango find the font. */
  family: string;
  path: string;
}

/** A part of a text that uses one font. */
export interface TextRun {
  text: string;
  font: Font;
}

const WEIGHTS = {
  regular: { folder: "400Regular", file: "400Regular", name: "Regular" },
  bold: { folder: "700Bold", file: "700Bold", name: "Bold" },
} as const;

type FontOf = (weight: Weight) => Font;

/** Fonts in packages with one folder per weight. */
const google =
  (name: string, family: string): FontOf =>
  (weight) => {
    const { folder, file } = WEIGHTS[weight];
    const root = dirname(require.resolve(`@expo-google-fonts/${name}/package.json`));
    return { family, path: join(root, folder, `${family.replaceAll(" ", "")}_${file}.ttf`) };
  };

/** Chinese, Japanese and Korean fonts. Their family name includes the weight, because libass finds them only by that name. */
const eastAsian =
  (name: string, family: string, file: string): FontOf =>
  (weight) => {
    const root = join(dirname(require.resolve(`@embedpdf/${name}`)), "..", "fonts");
    return { family: `${family} ${WEIGHTS[weight].name}`, path: join(root, `${file}-${WEIGHTS[weight].name}.otf`) };
  };

const MAIN = google("noto-sans", "Noto Sans");
const SCRIPTS: readonly FontOf[] = [
  google("noto-sans-arabic", "Noto Sans Arabic"),
  google("noto-sans-hebrew", "Noto Sans Hebrew"),
  google("noto-sans-thai", "Noto Sans Thai"),
];
const CHINESE = eastAsian("fonts-sc", "Noto Sans S Chinese", "NotoSansHans");
const JAPANESE = eastAsian("fonts-jp", "Noto Sans Japanese", "NotoSansJP");
const KOREAN = eastAsian("fonts-kr", "Noto Sans Korean", "NotoSansKR");
const EMOJI = google("noto-emoji", "Noto Emoji");

/**
 * Selects fonts for Chinese, Japanese and Korean, which draw shared characters differently. The language is derived from the text's own
 * letters.
 */
const eastAsianFonts = (text: string): readonly FontOf[] => {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return [JAPANESE, CHINESE, KOREAN];
  if (/\p{Script=Hangul}/u.test(text)) return [KOREAN, JAPANESE, CHINESE];
  return [CHINESE, JAPANESE, KOREAN];
};

export const mainFont = (weight: Weight): Font => MAIN(weight);

const tables = new Map<string, FontTables>();
const cachedTables = ({ path }: Font): FontTables => {
  const fontTables = tables.get(path) ?? tablesOf(path);
  tables.set(path, fontTables);
  return fontTables;
};
const covers = (font: Font, points: readonly number[]): boolean => points.every((point) => cachedTables(font).points.has(point));

/** Scale factor that makes letters as large as in the main font. It is needed because fonts of other scripts have taller lines. */
export const scaleOf = (font: Font, main: Font): number => cachedTables(font).lineHeight / cachedTables(main).lineHeight;

const CLUSTERS = new Intl.Segmenter("und", { granularity: "grapheme" });
/** Characters without a glyph. */
const BLANK = /[\s\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;
/** Characters that look empty but aren't white space. */
const EMPTY = /[\u2800\u{1d159}]/gu;

/** True if a text has no visible character. */
export const isBlank = (text: string): boolean => text.replace(BLANK, "").replace(EMPTY, "") === "";
const MOST_NAMED = 10;

const signName = (sign: string): string =>
  `${sign} (${[...sign].map((one) => `U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`).join(" ")})`;

/**
 * Splits a text by font.
 * @param port input with the text
 * @throws InputError with the characters that no font has
 */
export const runsOf = (text: string, weight: Weight, port: string): TextRun[] => {
  const fonts = [MAIN, ...SCRIPTS, ...eastAsianFonts(text), EMOJI].map((font) => font(weight));
  const runs: TextRun[] = [];
  const missing = new Set<string>();
  for (const { segment } of CLUSTERS.segment(text)) {
    const signs = segment.replace(BLANK, "");
    const points = [...signs].map((sign) => sign.codePointAt(0)!);
    const last = runs.at(-1);
    const font = points.length === 0 ? (last?.font ?? fonts[0]!) : fonts.find((one) => covers(one, points));
    if (!font) missing.add(signs);
    else if (last?.font === font) last.text += segment;
    else runs.push({ text: segment, font });
  }
  if (missing.size > 0) {
    const list = [...missing].slice(0, MOST_NAMED).map(signName).join(", ");
    throw new InputError(`${port}: no font has ${list}${missing.size > MOST_NAMED ? ", …" : ""}; leave out or replace these signs`);
  }
  return runs;
};

/** Fonts that texts use, without duplicates. */
export const fontsOf = (runs: readonly TextRun[]): Font[] => [...new Map(runs.map(({ font }) => [font.path, font])).values()];
