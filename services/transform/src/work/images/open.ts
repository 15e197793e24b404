import sharp, { type Metadata, type Sharp } from "sharp";
import { BOUNDS } from "../../bounds";
import type { WorkFile, WorkResult } from "../../children/protocol";
import { InputError, type Job } from "../job";
import { heicPixels } from "./heic";
import { rasterized } from "./vector";

/** Reads and writes images with libvips. */

// Disables the cache. A process handles one operation at a time, so decoded images aren't reused.
sharp.cache(false);
sharp.concurrency(2);
// Blocks loaders of formats that contain code or refer to other files. SVG is read only from memory, and only if storage has sanitized it:
// without a path, librsvg loads no other file. A file on disk that only looks like SVG stays blocked.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: ["Jpeg", "Png", "Webp", "Nsgif", "Heif", "Tiff", "SvgBuffer"].map((format) => `VipsForeignLoad${format}`),
});

const READ = "PNG, JPEG, WebP, AVIF, GIF, TIFF, HEIC or SVG";
const VECTOR = "image/svg+xml";
const TYPES: ReadonlySet<string> = new Set(
  ["png", "jpeg", "webp", "gif", "avif", "heif", "tiff", "svg+xml"].map((name) => `image/${name}`),
);
/** Display names of known formats that can't be read. */
const NAMES: Readonly<Record<string, string>> = { "image/bmp": "BMP" };
const LIMITS = { limitInputPixels: BOUNDS.imagePixels, failOn: "error", unlimited: false } as const;
/** Compression format of HEIC files. */
const HEVC = "hevc";
const ANIMATED: ReadonlySet<string> = new Set(["gif", "webp"]);

const isPath = (word: string): boolean => word.startsWith("/") && word.includes("/", 1);
const MESSAGE_CHARACTERS = 200;

/** Converts a libvips message to an error for the file's owner. */
const problemOf = (port: string, error: unknown): InputError => {
  const message = error instanceof Error ? error.message : String(error);
  if (/exceeds pixel limit/i.test(message)) return new InputError(`${port}: the image has more than ${BOUNDS.imagePixels} pixels`);
  if (/unsupported image format|operation is blocked|compression format/i.test(message))
    return new InputError(`${port}: the image is in a format that can't be read; use ${READ}`);
  const [line = ""] = message.split("\n", 1);
  const shownLine = line
    .split(" ")
    .filter((word) => !isPath(word))
    .join(" ");
  return new InputError(`${port}: the image can't be read: ${shownLine.slice(0, MESSAGE_CHARACTERS)}`);
};

/** @throws InputError if the image is damaged or too large */
export const reading = async <T>(port: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw problemOf(port, error);
  }
};

export interface Picture {
  port: string;
  metadata: Metadata;
  /** Width in upright orientation. */
  width: number;
  height: number;
  isAnimated: boolean;
  /** Returns a pipeline that starts with the upright image. */
  pipeline(): Sharp;
}

/** @param moves true keeps all frames of an animation; false keeps the first frame and adds a warning */
export const openImage = (job: Pick<Job, "warn">, file: WorkFile, moves = false): Promise<Picture> =>
  reading(file.port, async () => {
    if (!TYPES.has(file.contentType))
      throw new InputError(`${file.port}: ${NAMES[file.contentType] ?? file.contentType} can't be read; use ${READ}`);
    const { path, port } = file;
    const source = file.contentType === VECTOR ? await rasterized(path, port) : path;
    const metadata = await sharp(source, LIMITS).metadata();
    const { format, pages = 1, autoOrient } = metadata;
    const isAnimation = pages > 1 && ANIMATED.has(format);
    const isAnimated = moves && isAnimation;
    if (isAnimation && !moves) job.warn(`${port}: only the first of ${pages} pictures of the animation is used`);
    if (isAnimated && pages > BOUNDS.imagePages) throw new InputError(`${port}: the animation has more than ${BOUNDS.imagePages} pictures`);
    const [width, height] = [autoOrient.width, isAnimated ? (metadata.pageHeight ?? autoOrient.height) : autoOrient.height];
    if (width * height * (isAnimated ? pages : 1) > BOUNDS.imagePixels)
      throw new InputError(`${port}: the image has more than ${BOUNDS.imagePixels} pixels`);
    const pixels = metadata.compression === HEVC ? await heicPixels(path) : undefined;
    const pipeline = (): Sharp => {
      if (pixels) return sharp(pixels.data, { raw: { width: pixels.width, height: pixels.height, channels: 4 } });
      return sharp(source, isAnimated ? { ...LIMITS, animated: true } : LIMITS).autoOrient();
    };
    return { port, metadata, ...(pixels ? { width: pixels.width, height: pixels.height } : { width, height }), isAnimated, pipeline };
  });

/** Output formats by input format. */
const KEPT: Readonly<Record<string, ImageFormat>> = { jpeg: "jpeg", png: "png", webp: "webp", heif: "avif", gif: "gif" };
export type ImageFormat = "png" | "jpeg" | "webp" | "avif" | "gif";

/** The output format for an image, which is its own if possible. A GIF without animation becomes PNG, and HEIC becomes JPEG. */
export const formatOf = ({ metadata, isAnimated }: Picture): ImageFormat => {
  if (metadata.format === "gif" && !isAnimated) return "png";
  return metadata.compression === HEVC ? "jpeg" : (KEPT[metadata.format] ?? "png");
};

const QUALITY = 90;

/** Sets the output format. Equal images always result in equal bytes. */
export const encoded = (pipeline: Sharp, format: ImageFormat, quality = QUALITY): Sharp => {
  switch (format) {
    case "jpeg":
      return pipeline.jpeg({ quality, mozjpeg: false, chromaSubsampling: quality >= QUALITY ? "4:4:4" : "4:2:0" });
    case "webp":
      return pipeline.webp({ quality });
    case "avif":
      return pipeline.avif({ quality, effort: 3 });
    case "gif":
      return pipeline.gif();
    default:
      return pipeline.png();
  }
};

/** Writes a result into its operation's folder. */
export const writeImage = async (pipeline: Sharp, folder: string, format: ImageFormat, quality?: number): Promise<WorkResult> => {
  const path = `${folder}/out.${format}`;
  const {
    width,
    height,
    pages = 1,
  } = (await encoded(pipeline, format, quality).toFile(path)) as Awaited<ReturnType<Sharp["toFile"]>> & {
    pages?: number;
  };
  return { path, width, height: pages > 1 ? Math.round(height / pages) : height };
};
