import { availableParallelism } from "node:os";

/** Bounds of one operation. Exceeding one fails the node. */

const MB = 1_024 * 1_024;
const MINUTE_MS = 60_000;

export const BOUNDS = {
  /** Number of files, and their total bytes. */
  files: 100,
  inputBytes: 1_024 * MB,
  /** The upper bound of the media service. */
  outputBytes: 100 * MB,
  /** Per image, summed over the frames of an animation. */
  imagePixels: 100_000_000,
  /** Frames kept of an animated image. */
  imagePages: 500,
  /** Per video frame. */
  videoPixels: 3_840 * 2_176,
  /** Memory of the process that edits images, without ffmpeg. */
  memoryBytes: 1_536 * MB,
  /** Address space of one ffmpeg. */
  ffmpegMemoryBytes: 6_144 * MB,
  /** CPU time of one ffmpeg. */
  ffmpegCpuSeconds: 1_800,
  /** From the start of an operation to its result. */
  imageMs: MINUTE_MS,
  ffmpegMs: 20 * MINUTE_MS,
  previewMs: MINUTE_MS,
  /** Download from media, and upload of a result. */
  transferMs: 5 * MINUTE_MS,
  /** Length of the queue, and the longest wait in it. */
  queueLimit: 500,
  waitMs: 10 * MINUTE_MS,
  /** Operations per child before it is replaced. */
  callsPerChild: 200,
} as const;

/** Upper bound of a caller's wait: queue, download, work and upload. */
export const RUN_MS = BOUNDS.waitMs + BOUNDS.ffmpegMs + 2 * BOUNDS.transferMs;

export const defaultConcurrency = (cores = availableParallelism()): number => Math.max(1, cores);
