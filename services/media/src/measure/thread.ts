import { open, readFile, stat, type FileHandle } from "node:fs/promises";
import { imageSize } from "image-size";
import type * as Mediabunny from "mediabunny" with { "resolution-mode": "import" };
import { parentPort } from "node:worker_threads";
import { readAt } from "../read-at";
import { aviOf } from "./avi";
import { orientationOf } from "./exif";
import { heifSize } from "./heif";
import type { Measurements, SanitizedVector } from "./measure";
import { mpegVideoOf } from "./mpeg-ts";
import { countedSeconds } from "./mp3";
import { aiffSeconds, amrSeconds } from "./sounds";
import { theoraOf } from "./theora";
import { tiffTags, UPRIGHT, type ReadAt } from "./tiff";
import { checkVectorBytes, sanitizeSvg } from "../vectors/sanitize";
import { VectorProblem } from "../vectors/weights";

// The package has a CommonJS bundle but declares types only for the ES module.
const { ALL_FORMATS, CustomSource, Input } = require("mediabunny") as typeof Mediabunny;

/** Number of leading bytes that contain an image's size, even after a camera's metadata. */
const IMAGE_HEAD_BYTES = 512 * 1024;
/** Maximum bytes that are read for a duration. */
const MAX_READ_BYTES = 32 * 1024 * 1024;
const MAX_CACHE_BYTES = 4 * 1024 * 1024;
const MS = 1_000;
const HEIF: ReadonlySet<string> = new Set(["image/heif", "image/avif"]);
/** EXIF orientations from this value on rotate by 90 degrees. */
const FIRST_TURNED = 5;

/** Ignores damaged metadata, as viewers do. */
const orElse = async <T>(readPart: () => Promise<T>, fallback: T): Promise<T> => {
  try {
    return await readPart();
  } catch {
    return fallback;
  }
};

const sizeOf = async (handle: FileHandle, contentType: string): Promise<{ width: number; height: number; orientation: number }> => {
  const read: ReadAt = (at, length) => readAt(handle, at, length);
  if (contentType === "image/tiff") {
    const { width, height, orientation } = await tiffTags(read);
    return { width: width ?? 0, height: height ?? 0, orientation };
  }
  const { width, height, orientation } = imageSize(await read(0, IMAGE_HEAD_BYTES));
  return { width, height, orientation: orientation ?? (await orElse(() => orientationOf(read, contentType), UPRIGHT)) };
};

const imageOf = async (handle: FileHandle, contentType: string): Promise<Measurements> => {
  const heif = HEIF.has(contentType) ? await orElse(async () => heifSize(await readAt(handle, 0, IMAGE_HEAD_BYTES)), undefined) : undefined;
  if (heif) return heif;
  const { width, height, orientation } = await sizeOf(handle, contentType);
  return orientation >= FIRST_TURNED ? { width: height, height: width } : { width, height };
};

const lasting = (seconds: number | undefined): Measurements => (seconds === undefined ? {} : { durationMs: Math.round(seconds * MS) });

/**
 * Measures by content type, for types that the container library doesn't read or reads only in part.
 * @returns undefined to let the library measure the file
 */
const OWN: Readonly<Record<string, (readBytes: ReadAt, size: number) => Promise<Measurements | undefined>>> = {
  "video/x-msvideo": aviOf,
  "video/mp2t": mpegVideoOf,
  "video/ogg": theoraOf,
  "audio/aiff": async (readBytes) => lasting(await aiffSeconds(readBytes)),
  "audio/amr": async (readBytes) => lasting(await amrSeconds(readBytes)),
};

const trackOf = async (handle: FileHandle, contentType: string): Promise<Measurements> => {
  const { size } = await handle.stat();
  const ofFile: ReadAt = (at, length) => readAt(handle, at, length);
  const own = await OWN[contentType]?.(ofFile, size);
  if (own) return own;
  const counted = contentType === "audio/mpeg" ? await countedSeconds(ofFile) : undefined;
  let readBytes = 0;
  const source = new CustomSource({
    getSize: () => size,
    read: (start, end) => {
      readBytes += end - start;
      if (readBytes > MAX_READ_BYTES) throw new RangeError("the file's index is too long");
      return readAt(handle, start, end - start);
    },
    maxCacheSize: MAX_CACHE_BYTES,
    // Ignored, because the failed read reports the error.
    handleUnhandledError: () => undefined,
  });
  const input = new Input({ source, formats: ALL_FORMATS });
  try {
    const video = await input.getPrimaryVideoTrack();
    const seconds =
      counted ?? (await input.getDurationFromMetadata()) ?? (await input.computeDuration()) - (await input.getFirstTimestamp());
    const durationMs = Math.round(seconds * MS);
    if (video) return { width: await video.getDisplayWidth(), height: await video.getDisplayHeight(), durationMs };
    return { durationMs, isSound: contentType.startsWith("video/") && (await input.getPrimaryAudioTrack()) !== null };
  } finally {
    input.dispose();
  }
};

/** Reads a file's size and duration. @param id posted when the thread starts the file */
export const measure = async ({ path, contentType, id }: { path: string; contentType: string; id: number }): Promise<Measurements> => {
  parentPort!.postMessage(id);
  const handle = await open(path, "r");
  try {
    return await (contentType.startsWith("image/") ? imageOf(handle, contentType) : trackOf(handle, contentType));
  } finally {
    await handle.close();
  }
};

/** Sanitizes a vector. @param id posted when the thread starts the file */
export const sanitize = async ({ path, id }: { path: string; id: number }): Promise<SanitizedVector> => {
  parentPort!.postMessage(id);
  try {
    checkVectorBytes((await stat(path)).size);
    return { svg: sanitizeSvg(await readFile(path)) };
  } catch (error) {
    if (error instanceof VectorProblem) return { problem: error.message };
    throw error;
  }
};
