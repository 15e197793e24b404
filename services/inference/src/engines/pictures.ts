import type { Onnx, Picture, Session, Sharp, Tensor } from "./libraries";
import { InputError, type EngineContext } from "./engine";

/** Converts images to and from tensors. */

export interface Pixels {
  /** Rows of pixels with `channels` bytes each. */
  data: Uint8Array;
  width: number;
  height: number;
}

export interface OpenedPicture {
  /** Opens a new pipeline for each call, because operations change it. */
  open(): Picture;
  width: number;
  height: number;
  hasAlpha: boolean;
}

/** Opens an image in its upright orientation. @throws InputError if the file isn't an image or has too many pixels */
export const openPicture = async (sharp: Sharp, path: string, maxPixels: number): Promise<OpenedPicture> => {
  const open = (): Picture => sharp(path, { limitInputPixels: maxPixels, failOn: "error", pages: 1 });
  try {
    const { width = 0, height = 0 } = await open().metadata();
    if (width * height > maxPixels)
      throw new InputError(`the image has ${width} × ${height} pixels; at most ${(maxPixels / 1e6).toFixed(1)} million are accepted`);
    const { data, info } = await open().autoOrient().toColourspace("srgb").png().toBuffer({ resolveWithObject: true });
    const { hasAlpha = false } = await sharp(data).metadata();
    return { open: () => sharp(data), width: info.width, height: info.height, hasAlpha };
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(`the image can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
};

/** Reads RGB pixels with three bytes each. */
export const rgbOf = async (picture: Picture): Promise<Pixels> => {
  const { data, info } = await picture.removeAlpha().toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
};

const PIXEL_MAX = 255;

/** Returns a tensor [1, 3, height, width] with values from 0 to 1. */
export const toTensor = ({ Tensor }: Pick<Onnx, "Tensor">, { data, width, height }: Pixels): Tensor => {
  const plane = width * height;
  const values = new Float32Array(3 * plane);
  for (let pixel = 0; pixel < plane; pixel++) {
    for (let channel = 0; channel < 3; channel++) values[channel * plane + pixel] = data[pixel * 3 + channel]! / PIXEL_MAX;
  }
  return new Tensor("float32", values, [1, 3, height, width]);
};

/** The inverse of `toTensor`. Returns three bytes per pixel. */
export const fromTensor = ({ data, dims }: Tensor): Pixels => {
  const [, , height = 0, width = 0] = dims;
  const plane = width * height;
  const pixels = new Uint8ClampedArray(3 * plane);
  for (let pixel = 0; pixel < plane; pixel++) {
    for (let channel = 0; channel < 3; channel++) pixels[pixel * 3 + channel] = (data[channel * plane + pixel] as number) * PIXEL_MAX;
  }
  return { data: new Uint8Array(pixels.buffer), width, height };
};

/**
 * Loads ONNX Runtime and opens a model.
 * @param model its path or bytes
 */
export const openSession = async (context: EngineContext, model: string | Uint8Array): Promise<{ onnx: Onnx; session: Session }> => {
  const onnx = await context.library<Onnx>("onnxruntime-node");
  const session = await onnx.InferenceSession.create(model, {
    intraOpNumThreads: context.threads,
    interOpNumThreads: 1,
    ...(context.gpu ? { executionProviders: [context.gpu, "cpu"] } : {}),
  });
  return { onnx, session };
};
