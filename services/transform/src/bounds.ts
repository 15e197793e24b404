import { availableParallelism } from "node:os";

/** Bounds of one operation. The node fails if a bound is exceeded. */

const MB = 1_024 * 1_024;
const MINUTE_MS = 60_000;

export const BOUNDS = {
  /** Number of files, and their total bytes. */
  files: 100,
  inputBytes: 1_024 * MB,
  /** The media service has an equal bound. */
  outputBytes: 100 * MB,
  /** Pixels per image; for an animation, of all frames together. */
  imagePixels: 100_000_000,
  /** Maximum frames that are kept of an animated image. */
  imagePages: 500,
  /** Pixels per video frame. */
  videoPixels: 3_840 * 2_176,
  /** Memory of the process that edits images. ffmpeg isn't included. */
  memoryBytes: 1_536 * MB,
  /** Address space of one ffmpeg process. */
  ffmpegMemoryBytes: 6_144 * MB,
  /** CPU time of one ffmpeg process. */
  ffmpegCpuSeconds: 1_800,
  /** Time from the start of an operation to its result. */
  imageMs: MINUTE_MS,
  ffmpegMs: 20 * MINUTE_MS,
  previewMs: MINUTE_MS,
  measureMs: 5 * MINUTE_MS,
  /** Time for downloading the files from media, and for uploading the result. */
  transferMs: 5 * MINUTE_MS,
  /** Length of the queue, and the maximum wait in it. */
  queueLimit: 500,
  waitMs: 10 * MINUTE_MS,
  /** Number of operations after which a child process is replaced. */
  callsPerChild: 200,
} as const;

/** Maximum time that a caller waits: queue, download, work and upload. */
export const RUN_MS = BOUNDS.waitMs + BOUNDS.ffmpegMs + 2 * BOUNDS.transferMs;

export const defaultConcurrency = (cores = availableParallelism()): number => Math.max(1, cores);
