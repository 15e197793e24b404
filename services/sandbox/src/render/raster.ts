/** 8-bit RGB samples, row by row. */
export interface Raster {
  width: number;
  height: number;
  data: Uint8Array;
}

export type Colour = readonly [red: number, green: number, blue: number];

export const createRaster = (width: number, height: number): Raster => ({ width, height, data: new Uint8Array(width * height * 3) });

/** Converts hue (turns), saturation and lightness (0..1) to RGB. */
export const fromHsl = (hue: number, saturation: number, lightness: number): Colour => {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const position = (offset + hue * 12) % 12;
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(position - 3, 9 - position, 1))));
  };
  return [channel(0), channel(8), channel(4)];
};

/** Blends a color over the pixels of a row from `left` to `right` (exclusive). Clipped to the raster. */
export const fillSpan = (raster: Raster, row: number, left: number, right: number, colour: Colour, opacity = 1): void => {
  if (row < 0 || row >= raster.height) return;
  const start = (row * raster.width + Math.max(0, Math.round(left))) * 3;
  const end = (row * raster.width + Math.min(raster.width, Math.round(right))) * 3;
  const [red, green, blue] = colour;
  const { data } = raster;
  for (let at = start; at < end; at += 3) {
    data[at] = data[at]! + (red - data[at]!) * opacity;
    data[at + 1] = data[at + 1]! + (green - data[at + 1]!) * opacity;
    data[at + 2] = data[at + 2]! + (blue - data[at + 2]!) * opacity;
  }
};
