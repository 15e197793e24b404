import { join } from "node:path";
import type { LoadEngine } from "./engine";
import type { Onnx, Session, Sharp } from "./libraries";
import { fromTensor, openPicture, openSession, rgbOf, toTensor, type Pixels } from "./pictures";

const SCALE = 4;
/** Overlap of tiles, so that seams aren't visible. */
const MARGIN = 10;

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const crop = ({ data, width }: Pixels, { left, top, right, bottom }: Box): Pixels => {
  const [cropWidth, cropHeight] = [right - left, bottom - top];
  const rows = new Uint8Array(cropWidth * cropHeight * 3);
  for (let row = 0; row < cropHeight; row++) {
    const from = ((top + row) * width + left) * 3;
    rows.set(data.subarray(from, from + cropWidth * 3), row * cropWidth * 3);
  }
  return { data: rows, width: cropWidth, height: cropHeight };
};

/** Copies a tile without its margin into the upscaled image. */
const paste = (target: Pixels, tile: Pixels, inner: Box, outer: Box): void => {
  const bytes = (inner.right - inner.left) * SCALE * 3;
  const skip = (inner.left - outer.left) * SCALE * 3;
  for (let row = inner.top * SCALE; row < inner.bottom * SCALE; row++) {
    const from = (row - outer.top * SCALE) * tile.width * 3 + skip;
    target.data.set(tile.data.subarray(from, from + bytes), (row * target.width + inner.left * SCALE) * 3);
  }
};

const tilesOf = ({ width, height }: Pixels, tile: number): { inner: Box; outer: Box }[] => {
  const tiles = [];
  for (let top = 0; top < height; top += tile) {
    for (let left = 0; left < width; left += tile) {
      const inner = { left, top, right: Math.min(width, left + tile), bottom: Math.min(height, top + tile) };
      const outer = {
        left: Math.max(0, left - MARGIN),
        top: Math.max(0, top - MARGIN),
        right: Math.min(width, inner.right + MARGIN),
        bottom: Math.min(height, inner.bottom + MARGIN),
      };
      tiles.push({ inner, outer });
    }
  }
  return tiles;
};

const enlarge = async (
  { onnx, session, tile }: { onnx: Onnx; session: Session; tile: number },
  source: Pixels,
  progress: (share: number) => void,
): Promise<Pixels> => {
  const [width, height] = [source.width * SCALE, source.height * SCALE];
  const target = { data: new Uint8Array(width * height * 3), width, height };
  const tiles = tilesOf(source, tile);
  for (const [index, { inner, outer }] of tiles.entries()) {
    const answer = await session.run({ [session.inputNames[0]!]: toTensor(onnx, crop(source, outer)) });
    paste(target, fromTensor(answer[session.outputNames[0]!]!), inner, outer);
    progress((index + 1) / tiles.length);
  }
  return target;
};

interface Enlarger {
  asset: string;
  file: string;
  /** Maximum pixels of the input image. */
  maxPixels: number;
  /** Side of the square tiles. It bounds the memory. */
  tile: number;
}

/** Upscales an image by a factor of four. Transparency is interpolated. */
const createUpscale =
  ({ asset, file, maxPixels, tile }: Enlarger): LoadEngine =>
  async (context) => {
    const sharp = await context.library<Sharp>("sharp");
    const model = await openSession(context, join(context.weights(asset), file));
    return {
      run: async ({ files, folder }, { progress }) => {
        const { open, hasAlpha } = await openPicture(sharp, files.image!, maxPixels);
        const alpha = hasAlpha ? await open().extractChannel("alpha").png().toBuffer() : undefined;
        const { data, width, height } = await enlarge({ ...model, tile }, await rgbOf(open()), progress);
        let large = sharp(Buffer.from(data.buffer), { raw: { width, height, channels: 3 } });
        if (alpha) {
          const mask = await sharp(alpha).resize(width, height, { fit: "fill", kernel: "cubic" }).toColourspace("b-w").raw().toBuffer();
          large = large.joinChannel(mask, { raw: { width, height, channels: 1 } });
        }
        await large.png().toFile(join(folder, "upscaled.png"));
        return { files: [{ name: "upscaled.png", contentType: "image/png" }] };
      },
    };
  };

/** SPAN, which stays closest to the original. */
export const loadUpscale = createUpscale({ asset: "upscale", file: "span-x4.onnx", maxPixels: 2_100_000, tile: 192 });
/** Real-ESRGAN, which removes noise and compression artifacts. */
export const loadRestore = createUpscale({ asset: "restore", file: "realesrgan-x4.onnx", maxPixels: 500_000, tile: 96 });
