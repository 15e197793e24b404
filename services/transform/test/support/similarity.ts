import sharp from "sharp";

const WINDOW = 8;
const STEP = 4;
const [C1, C2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];

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

const greys = (picture: Buffer): Promise<{ data: Buffer; info: { width: number; height: number } }> =>
  sharp(picture).flatten({ background: "#808080" }).toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });

/** Mean structural similarity of two pictures (SSIM), from 0 to 1. @throws if their sizes differ */
export const similarity = async (one: Buffer, other: Buffer): Promise<number> => {
  const [a, b] = [await greys(one), await greys(other)];
  const { width, height } = a.info;
  if (width !== b.info.width || height !== b.info.height)
    throw new Error(`${width} × ${height} isn't the size ${b.info.width} × ${b.info.height}`);
  const size = { width: Math.min(WINDOW, width), height: Math.min(WINDOW, height) };
  let [sum, count] = [0, 0];
  for (let y = 0; y + size.height <= height; y += STEP)
    for (let x = 0; x + size.width <= width; x += STEP) {
      sum += windowSimilarity(a.data, b.data, width, x, y, size);
      count += 1;
    }
  return sum / count;
};
