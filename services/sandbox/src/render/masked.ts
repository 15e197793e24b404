import sharp from "sharp";
import { paint } from "./picture";

/** Draws inside a mask, as models for inpainting do. */

export const LIMITS = { limitInputPixels: 50_000_000, failOn: "error" } as const;
const DRAWN_SIZE = 512;

/** @throws Error if the file isn't an image that can be read */
export const checkImage = async (bytes: Buffer): Promise<void> => {
  const { width, height } = await sharp(bytes, LIMITS).metadata();
  if (width * height > LIMITS.limitInputPixels) throw new Error(`the image has more than ${LIMITS.limitInputPixels} pixels`);
};

/** Returns a PNG of the image in which the white parts of the mask show a new picture. The other pixels are the image's own. */
export const renderMasked = async (seed: string, image: Buffer, mask: Buffer): Promise<Buffer> => {
  const base = sharp(image, LIMITS).autoOrient().toColourspace("srgb").flatten({ background: "#000000" });
  const { data, info } = await base.raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const fill = { width, height, fit: "fill" } as const;
  const alpha = await sharp(mask, LIMITS)
    .removeAlpha()
    .resize({ ...fill, kernel: "linear" })
    .toColourspace("b-w")
    .raw()
    .toBuffer();
  const drawn = paint(seed, DRAWN_SIZE, DRAWN_SIZE);
  const layer = await sharp(drawn.data, { raw: { width: DRAWN_SIZE, height: DRAWN_SIZE, channels: 3 } })
    .resize(fill)
    .raw()
    .toBuffer();
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const share = alpha[pixel]! / 255;
    if (share === 0) continue;
    for (let at = pixel * 3; at < pixel * 3 + 3; at += 1) data[at] = Math.round(data[at]! + (layer[at]! - data[at]!) * share);
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
};
