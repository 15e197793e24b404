import { readFile } from "node:fs/promises";

/** Decodes HEIC, the photo format of phones, with libheif. libvips reads only AVIF. */

export interface Pixels {
  /** RGBA with eight bits per channel, in upright orientation. */
  data: Buffer;
  width: number;
  height: number;
}

interface HeifImage {
  get_width(): number;
  get_height(): number;
  is_primary(): boolean;
  display(target: { data: Uint8ClampedArray; width: number; height: number }, callback: (filled: unknown) => void): void;
  free(): void;
}
interface LibHeif {
  HeifDecoder: new () => { decode(file: Buffer): HeifImage[] };
}

const CHANNELS = 4;

/** Decodes the main image of a HEIC file. @throws Error if it is damaged */
export const heicPixels = async (path: string): Promise<Pixels> => {
  // Loaded on demand, because it is two megabytes of code.
  const { HeifDecoder } = require("libheif-js/wasm-bundle") as LibHeif;
  const images = new HeifDecoder().decode(await readFile(path));
  try {
    const image = images.find((one) => one.is_primary()) ?? images[0];
    if (!image) throw new Error("it has no picture");
    const [width, height] = [image.get_width(), image.get_height()];
    const data = new Uint8ClampedArray(width * height * CHANNELS);
    const filled = await new Promise<unknown>((resolve) => image.display({ data, width, height }, resolve));
    if (!filled) throw new Error("its picture is damaged");
    return { data: Buffer.from(data.buffer), width, height };
  } finally {
    for (const image of images) image.free();
  }
};
