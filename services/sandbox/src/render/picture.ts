import { PNG } from "pngjs";
import { drawLabel } from "./label";
import { createRandom, type Random } from "./random";
import { createRaster, fillSpan, fromHsl, type Colour, type Raster } from "./raster";

const MIN_SHAPES = 5;
const MAX_SHAPES = 9;
/** A fast level. Level 6 takes three times as long and barely compresses gradients better. */
const DEFLATE_LEVEL = 2;
/** PNG filter "up", which stores the difference to the sample above. It suits gradients and needs one pass. */
const FILTER_UP = 2;
const RGB = 2;

const fillGradient = (raster: Raster, corners: readonly [Colour, Colour, Colour, Colour]): void => {
  const { width, height, data } = raster;
  const [topLeft, topRight, bottomLeft, bottomRight] = corners;
  let at = 0;
  for (let row = 0; row < height; row++) {
    const down = row / (height - 1);
    const mix = (from: Colour, to: Colour, channel: 0 | 1 | 2): number => from[channel] + (to[channel] - from[channel]) * down;
    let [red, green, blue] = [mix(topLeft, bottomLeft, 0), mix(topLeft, bottomLeft, 1), mix(topLeft, bottomLeft, 2)];
    const redStep = (mix(topRight, bottomRight, 0) - red) / (width - 1);
    const greenStep = (mix(topRight, bottomRight, 1) - green) / (width - 1);
    const blueStep = (mix(topRight, bottomRight, 2) - blue) / (width - 1);
    for (let column = 0; column < width; column++) {
      data[at++] = red;
      data[at++] = green;
      data[at++] = blue;
      red += redStep;
      green += greenStep;
      blue += blueStep;
    }
  }
};

interface Shape {
  x: number;
  y: number;
  radius: number;
  colour: Colour;
  opacity: number;
}

const drawDisc = (raster: Raster, { x, y, radius, colour, opacity }: Shape): void => {
  for (let row = Math.floor(y - radius); row <= y + radius; row++) {
    const half = Math.sqrt(Math.max(0, radius * radius - (row - y) ** 2));
    fillSpan(raster, row, x - half, x + half, colour, opacity);
  }
};

const drawRing = (raster: Raster, { x, y, radius, colour, opacity }: Shape): void => {
  const inner = radius * 0.7;
  for (let row = Math.floor(y - radius); row <= y + radius; row++) {
    const outerHalf = Math.sqrt(Math.max(0, radius * radius - (row - y) ** 2));
    const innerHalf = Math.sqrt(Math.max(0, inner * inner - (row - y) ** 2));
    fillSpan(raster, row, x - outerHalf, x - innerHalf, colour, opacity);
    fillSpan(raster, row, x + innerHalf, x + outerHalf, colour, opacity);
  }
};

const drawDiamond = (raster: Raster, { x, y, radius, colour, opacity }: Shape): void => {
  for (let row = Math.floor(y - radius); row <= y + radius; row++) {
    const half = radius - Math.abs(row - y);
    fillSpan(raster, row, x - half, x + half, colour, opacity);
  }
};

const drawBand = (raster: Raster, { x, y, radius, colour, opacity }: Shape): void => {
  for (let row = Math.floor(y - radius / 5); row <= y + radius / 5; row++)
    fillSpan(raster, row, x - radius * 1.6, x + radius * 1.6, colour, opacity);
};

const randomShape = (random: Random, raster: Raster, hue: number): Shape => ({
  x: random.next() * raster.width,
  y: random.next() * raster.height,
  radius: random.between(0.06, 0.24) * Math.min(raster.width, raster.height),
  colour: fromHsl((hue + random.between(0.3, 0.7)) % 1, random.between(0.5, 0.9), random.between(0.35, 0.8)),
  opacity: random.between(0.35, 0.85),
});

/** Paints a gradient with shapes chosen by the seed, and the sandbox label. */
export const paint = (seed: string, width: number, height: number): Raster => {
  const random = createRandom(seed);
  const raster = createRaster(width, height);
  const hue = random.next();
  const corner = (): Colour => fromHsl((hue + random.between(0, 0.25)) % 1, random.between(0.45, 0.85), random.between(0.25, 0.7));
  fillGradient(raster, [corner(), corner(), corner(), corner()]);
  const shapes = MIN_SHAPES + random.below(MAX_SHAPES - MIN_SHAPES + 1);
  for (let index = 0; index < shapes; index++)
    random.pick([drawDisc, drawRing, drawDiamond, drawBand])(raster, randomShape(random, raster, hue));
  drawLabel(raster, Math.max(1, Math.round(Math.min(width, height) / 128)));
  return raster;
};

/** Renders a square PNG of `size` pixels. */
export const renderPicture = (seed: string, size: number): Buffer => {
  const { width, height, data } = paint(seed, size, size);
  const png = new PNG({ width, height });
  png.data = Buffer.from(data.buffer);
  return PNG.sync.write(png, {
    colorType: RGB,
    inputColorType: RGB,
    inputHasAlpha: false,
    filterType: FILTER_UP,
    deflateLevel: DEFLATE_LEVEL,
  });
};
