import { labelOutline } from "./label";
import { createRandom, type Random } from "./random";
import { fromHsl, type Colour } from "./raster";

/** Draws vector images (SVG): a gradient, shapes chosen by the seed, and the sandbox label. */

export const VECTOR_SIZE = 1_024;
const MIN_SHAPES = 6;
const MAX_SHAPES = 14;
/** Background of the label. */
const PLATE = { width: 360, height: 88, margin: 16, scale: 8 } as const;

const hex = (colour: Colour): string => `#${colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

const shapeOf = (random: Random, hue: number): string => {
  const at = (): number => Math.round(random.next() * VECTOR_SIZE);
  const [x, y, radius] = [at(), at(), Math.round(random.between(0.06, 0.24) * VECTOR_SIZE)];
  const colour = hex(fromHsl((hue + random.between(0.3, 0.7)) % 1, random.between(0.5, 0.9), random.between(0.35, 0.8)));
  const opacity = random.between(0.5, 0.9).toFixed(2);
  return random.pick([
    `<circle cx="${x}" cy="${y}" r="${radius}" fill="${colour}" fill-opacity="${opacity}"/>`,
    `<circle cx="${x}" cy="${y}" r="${radius}" fill="none" stroke="${colour}" stroke-opacity="${opacity}" stroke-width="${Math.round(radius / 3)}"/>`,
    `<path d="M${x} ${y - radius}L${x + radius} ${y}L${x} ${y + radius}L${x - radius} ${y}Z" fill="${colour}" fill-opacity="${opacity}"/>`,
    `<path d="M${x - radius} ${y}Q${x} ${y - 2 * radius} ${x + radius} ${y}T${x + 3 * radius} ${y}" fill="none" stroke="${colour}" stroke-width="${Math.round(radius / 4)}" stroke-linecap="round"/>`,
  ]);
};

/** Renders a square SVG of 1,024 units. */
export const renderVector = (seed: string): Buffer => {
  const random = createRandom(seed);
  const hue = random.next();
  const corner = (): string => hex(fromHsl((hue + random.between(0, 0.25)) % 1, random.between(0.45, 0.85), random.between(0.25, 0.7)));
  const stops = `<stop offset="0" stop-color="${corner()}"/><stop offset="1" stop-color="${corner()}"/>`;
  const count = MIN_SHAPES + random.below(MAX_SHAPES - MIN_SHAPES + 1);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${VECTOR_SIZE}" height="${VECTOR_SIZE}" viewBox="0 0 ${VECTOR_SIZE} ${VECTOR_SIZE}">`,
    "<title>Nodeloom sandbox (no AI)</title>",
    `<defs><linearGradient id="ground" x1="0" y1="0" x2="1" y2="1">${stops}</linearGradient></defs>`,
    `<rect width="${VECTOR_SIZE}" height="${VECTOR_SIZE}" fill="url(#ground)"/>`,
    ...Array.from({ length: count }, () => shapeOf(random, hue)),
    `<path d="M0 0h${PLATE.width}v${PLATE.height}H0z" fill="#141418"/><path d="${labelOutline(PLATE.margin, PLATE.margin, PLATE.scale)}" fill="#ffffff"/>`,
    "</svg>",
  ];
  return Buffer.from(lines.join("\n"));
};
