import sharp, { type Sharp } from "sharp";

/** Similarity of pictures, from 0 to 1: structural similarity and a perceptual hash of their grey values. */

export interface Greys {
  data: Buffer;
  width: number;
  height: number;
}

const WINDOW = 8;
const STEP = 4;
const [C1, C2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
/** Longest side of the pictures that are compared. */
const COMPARED_PIXELS = 256;
const HASHED_SIZE = { width: 17, height: 16 };
/** Differences of grey values up to this are noise of compression. */
const HASH_MARGIN = 3;

/** @param size stretches the picture; absent for its own size */
export const greysOf = async (picture: Sharp, size?: { width: number; height: number }): Promise<Greys> => {
  const flat = picture.flatten({ background: "#808080" });
  // The stretched picture is decoded first, because the order of sharp's steps is fixed.
  const sized = size
    ? sharp(
        await flat
          .resize({ ...size, fit: "fill" })
          .png()
          .toBuffer(),
      )
    : flat;
  const { data, info } = await sized.toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
};

/** Structural similarity of two windows (Wang et al., 2004). */
const windowSimilarity = (a: Buffer, b: Buffer, width: number, x: number, y: number, size: { width: number; height: number }): number => {
  let [sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0];
  for (let row = y; row < y + size.height; row += 1)
    for (let at = row * width + x; at < row * width + x + size.width; at += 1) {
      const [one, other] = [a[at]!, b[at]!];
      sumA += one;
      sumB += other;
      squaresA += one * one;
      squaresB += other * other;
      products += one * other;
    }
  const count = size.width * size.height;
  const [meanA, meanB] = [sumA / count, sumB / count];
  const [varianceA, varianceB] = [squaresA / count - meanA ** 2, squaresB / count - meanB ** 2];
  const covariance = products / count - meanA * meanB;
  return ((2 * meanA * meanB + C1) * (2 * covariance + C2)) / ((meanA ** 2 + meanB ** 2 + C1) * (varianceA + varianceB + C2));
};

/** Mean structural similarity (SSIM). @throws if the sizes differ */
export const ssimOf = (a: Greys, b: Greys): number => {
  const { width, height } = a;
  if (width !== b.width || height !== b.height) throw new Error(`${width} × ${height} isn't the size ${b.width} × ${b.height}`);
  const size = { width: Math.min(WINDOW, width), height: Math.min(WINDOW, height) };
  let [sum, count] = [0, 0];
  for (let y = 0; y + size.height <= height; y += STEP)
    for (let x = 0; x + size.width <= width; x += STEP) {
      sum += windowSimilarity(a.data, b.data, width, x, y, size);
      count += 1;
    }
  return sum / count;
};

/** Bits of a difference hash: for each place, whether the picture gets brighter to the right. */
const hashOf = ({ data, width, height }: Greys): boolean[] =>
  Array.from({ length: height * (width - 1) }, (_, place) => {
    const at = Math.floor(place / (width - 1)) * width + (place % (width - 1));
    return data[at + 1]! - data[at]! > HASH_MARGIN;
  });

export interface Similarity {
  ssim: number;
  hash: number;
}

/** Compares a picture with a golden one, which gives the proportions. @param open opens a picture, once for each reading */
export const compare = async (
  open: () => Sharp,
  openGolden: () => Sharp,
  golden: { width: number; height: number },
): Promise<Similarity> => {
  const scale = Math.min(1, COMPARED_PIXELS / Math.max(golden.width, golden.height));
  const size = { width: Math.max(1, Math.round(golden.width * scale)), height: Math.max(1, Math.round(golden.height * scale)) };
  const ssim = ssimOf(await greysOf(open(), size), await greysOf(openGolden(), size));
  const [bits, goldenBits] = [hashOf(await greysOf(open(), HASHED_SIZE)), hashOf(await greysOf(openGolden(), HASHED_SIZE))];
  return { ssim: Math.max(0, ssim), hash: bits.filter((bit, index) => bit === goldenBits[index]).length / bits.length };
};
