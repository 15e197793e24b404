import { readFile } from "node:fs/promises";
import sharp from "sharp";
import { fontsOf, runsOf, type Weight } from "../fonts/fonts";
import { loadFonts } from "../fonts/load";

/** Draws vectors (SVG) as pixels. */

/** Longer side of a drawn vector in pixels. */
const VECTOR_SIDE = 2_048;
/** Density at which a unit of the file is one pixel, and the densities that libvips takes. */
const UNIT_DENSITY = 72;
const DENSITIES = { least: 1, most: 100_000 } as const;

const WEIGHTS: readonly Weight[] = ["regular", "bold"];
const SIGNS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** Text between the tags of a vector. Storage writes `<` and `>` in values as entities. */
const textIn = (svg: string): string =>
  svg
    .split("<")
    .map((part) => part.slice(part.indexOf(">") + 1))
    .join(" ")
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => SIGNS[entity]!);

/**
 * Returns a PNG whose longer side has 2,048 pixels. Texts use the bundled fonts.
 * @param path a vector that storage has sanitized, with its size on the root
 * @throws InputError if no font has a character
 */
export const rasterized = async (path: string, port: string): Promise<Buffer> => {
  const bytes = await readFile(path);
  const svg = bytes.toString();
  if (svg.includes("<text")) for (const weight of WEIGHTS) await loadFonts(fontsOf(runsOf(textIn(svg), weight, port)));
  const { width, height } = await sharp(bytes, { limitInputPixels: false }).metadata();
  const scale = VECTOR_SIDE / Math.max(width, height);
  const density = Math.min(DENSITIES.most, Math.max(DENSITIES.least, UNIT_DENSITY * scale));
  const [wide, high] = [width, height].map((side) => Math.max(1, Math.round(side * scale)));
  return sharp(bytes, { density }).resize({ width: wide!, height: high!, fit: "fill" }).png().toBuffer();
};
