import { availableParallelism } from "node:os";

/** What one operation may use; what passes a bound fails its node. */

const MB = 1_024 * 1_024;
const MINUTE_MS = 60_000;

export const BOUNDS = {
  /** Files of one operation, and their bytes together. */
  files: 100,
  inputBytes: 1_024 * MB,
  /** A result, as large as media stores. */
  outputBytes: 100 * MB,
  /** Pixels of one image, all pictures of an animated one together. */
  imagePixels: 100_000_000,
  /** Pictures of an animated image that are kept. */
  imagePages: 500,
  /** Pixels of one picture of a video. */
  videoPixels: 3_840 * 2_176,
  /** Memory of the process that works on images, beside that of ffmpeg. */
  memoryBytes: 1_536 * MB,
  /** Address space of one ffmpeg. */
  ffmpegMemoryBytes: 6_144 * MB,
  /** Processor time of one ffmpeg. */
  ffmpegCpuSeconds: 1_800,
  /** From the beginning of an operation to its result. */
  imageMs: MINUTE_MS,
  ffmpegMs: 20 * MINUTE_MS,
  previewMs: MINUTE_MS,
  /** Reading files from media, and storing a result. */
  transferMs: 5 * MINUTE_MS,
  /** Operations that may wait for their turn, and for how long. */
  queueLimit: 500,
  waitMs: 10 * MINUTE_MS,
  /** Operations after which a process is replaced by a new one. */
  callsPerChild: 200,
} as const;

/** How long a caller waits for an operation at most: in line, for its files, and for its result. */
export const RUN_MS = BOUNDS.waitMs + BOUNDS.ffmpegMs + 2 * BOUNDS.transferMs;

export const defaultConcurrency = (cores = availableParallelism()): number => Math.max(1, cores);
