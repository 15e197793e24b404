import sharp from "sharp";
import { writeGlb, type Surface } from "./glb";
import { LIMITS } from "./masked";
import { renderPicture } from "./picture";
import { createRandom, type Random } from "./random";

/** Makes 3D models: a vase from a seed, or a relief of a picture. */

const GENERATOR = "Nodeloom sandbox (no AI)";
const TEXTURE_SIZE = 512;
const JPEG_QUALITY = 85;

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

const HEIGHT = 2;
/** Share of the rows that close the vase below. */
const FOOT = 0.06;

/** A vase whose outline and flutes come from random numbers. */
const vaseOf = (random: Random): Surface => {
  const waves = [1, 2, 3].map((turns) => ({ turns, height: random.between(0.04, 0.3) / turns, shift: random.next() }));
  const flutes = random.below(9);
  const depth = flutes === 0 ? 0 : random.between(0.02, 0.1);
  const radiusAt = (v: number): number =>
    0.6 + waves.reduce((sum, { turns, height, shift }) => sum + height * Math.sin(Math.PI * (turns * v + 2 * shift)), 0);
  return {
    columns: 96,
    rows: 64,
    at: (u, givenV) => {
      const v = clamp(givenV);
      const angle = -2 * Math.PI * u;
      const radius = Math.max(0.12, radiusAt(v)) * (1 + depth * Math.cos(flutes * angle)) * clamp((1 - v) / FOOT);
      return [radius * Math.cos(angle), HEIGHT * (0.5 - Math.min(v, 1 - FOOT)), radius * Math.sin(angle)];
    },
  };
};

const RELIEF_CELLS = 96;
const RELIEF_DEPTH = 0.35;
const RELIEF_BLUR = 1.2;

/** A plate whose front rises where the picture is bright. */
const reliefOf = async (picture: Buffer): Promise<{ surfaces: Surface[]; texture: Buffer }> => {
  const upright = sharp(picture, LIMITS).autoOrient().flatten({ background: "#ffffff" }).toColourspace("srgb");
  const { data: texture, info } = await upright
    .resize({ width: TEXTURE_SIZE, height: TEXTURE_SIZE, fit: "inside" })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer({ resolveWithObject: true });
  const points = RELIEF_CELLS + 1;
  const heights = await sharp(texture)
    .resize({ width: points, height: points, fit: "fill" })
    .blur(RELIEF_BLUR)
    .greyscale()
    .raw()
    .toBuffer();
  const longest = Math.max(info.width, info.height);
  const [width, height] = [(2 * info.width) / longest, (2 * info.height) / longest];
  const isInside = (share: number): boolean => share > 0 && share < 1;
  const heightAt = (u: number, v: number): number => {
    if (!isInside(u) || !isInside(v)) return 0;
    const pixel = Math.round(v * RELIEF_CELLS) * points + Math.round(u * RELIEF_CELLS);
    return RELIEF_DEPTH * (0.2 + (0.8 * heights[pixel]!) / 255);
  };
  const front: Surface = {
    columns: RELIEF_CELLS,
    rows: RELIEF_CELLS,
    at: (givenU, givenV) => {
      const [u, v] = [clamp(givenU), clamp(givenV)];
      return [width * (u - 0.5), height * (0.5 - v), heightAt(u, v)];
    },
  };
  const back: Surface = { columns: 1, rows: 1, at: (u, v) => [width * (0.5 - u), height * (0.5 - v), 0] };
  return { surfaces: [front, back], texture };
};

/** Renders a GLB file. @param picture an image that was checked */
export const renderModel = async (seed: string, picture: Buffer | undefined): Promise<Buffer> => {
  if (!picture) {
    const texture = { bytes: renderPicture(seed, TEXTURE_SIZE), contentType: "image/png" } as const;
    return writeGlb([vaseOf(createRandom(seed))], texture, GENERATOR);
  }
  const { surfaces, texture } = await reliefOf(picture);
  return writeGlb(surfaces, { bytes: texture, contentType: "image/jpeg" }, GENERATOR);
};
