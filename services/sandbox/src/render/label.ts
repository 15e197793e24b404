import { fillSpan, type Colour, type Raster } from "./raster";

/** Letters of the label, each with seven rows of five pixels. The most significant bit is on the left. */
const GLYPHS: Readonly<Record<string, readonly number[]>> = {
  S: [0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110],
  A: [0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001],
  N: [0b10001, 0b11001, 0b10101, 0b10011, 0b10001, 0b10001, 0b10001],
  D: [0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110],
  B: [0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110],
  O: [0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110],
  X: [0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001],
};
const TEXT = "SANDBOX";
const GLYPH_WIDTH = 5;
const GLYPH_HEIGHT = 7;
const ADVANCE = GLYPH_WIDTH + 1;
const PADDING = 2;
const INK: Colour = [255, 255, 255];
const PAPER: Colour = [20, 20, 24];

/** Outline of SANDBOX with its upper left corner at a position, for vectors. */
export const labelOutline = (left: number, top: number, scale: number): string =>
  [...TEXT]
    .flatMap((letter, index) =>
      GLYPHS[letter]!.flatMap((bits, row) =>
        Array.from({ length: GLYPH_WIDTH }, (_, column) =>
          bits & (1 << (GLYPH_WIDTH - 1 - column))
            ? `M${left + (index * ADVANCE + column) * scale} ${top + row * scale}h${scale}v${scale}h-${scale}z`
            : "",
        ),
      ),
    )
    .join("");

/** Height in pixels, including the margin. */
export const labelHeight = (scale: number): number => (GLYPH_HEIGHT + 3 * PADDING) * scale;

/** Draws SANDBOX in the upper left corner, so that the image isn't mistaken for the output of an AI model. */
export const drawLabel = (raster: Raster, scale: number): void => {
  const margin = PADDING * scale;
  const width = (TEXT.length * ADVANCE - 1 + 2 * PADDING) * scale;
  const height = (GLYPH_HEIGHT + 2 * PADDING) * scale;
  for (let row = 0; row < height; row++) fillSpan(raster, margin + row, margin, margin + width, PAPER);
  const origin = margin + PADDING * scale;
  [...TEXT].forEach((letter, index) => {
    GLYPHS[letter]?.forEach((bits, glyphRow) => {
      for (let column = 0; column < GLYPH_WIDTH; column++) {
        if (!(bits & (1 << (GLYPH_WIDTH - 1 - column)))) continue;
        const left = origin + (index * ADVANCE + column) * scale;
        for (let row = 0; row < scale; row++) fillSpan(raster, origin + glyphRow * scale + row, left, left + scale, INK);
      }
    });
  });
};
