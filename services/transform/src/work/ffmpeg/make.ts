import type { WorkResult } from "../../children/protocol";
import { inFolder, InputError, type Job } from "../job";
import { inputArguments } from "./formats";
import { readDescription, type Source } from "./probe";
import { describedByFfmpeg, runFfmpeg } from "./run";

/** Common encoding settings, chosen so that the same work gives the same bytes. */

/** Fixed number of encoder threads: another number would give other bytes. */
const THREADS = "4";
export const SAMPLE_RATE = 48_000;

/** No dates, program names or random numbers. */
export const SAME_BYTES = [
  "-map_metadata",
  "-1",
  "-map_chapters",
  "-1",
  "-fflags",
  "+bitexact",
  "-flags:v",
  "+bitexact",
  "-flags:a",
  "+bitexact",
];
export const H264 = [
  "-c:v",
  "libx264",
  "-preset",
  "veryfast",
  "-crf",
  "20",
  "-pix_fmt",
  "yuv420p",
  "-threads",
  THREADS,
  "-profile:v",
  "high",
];
export const AAC = ["-c:a", "aac", "-b:a", "160k", "-ar", String(SAMPLE_RATE), "-ac", "2"];
const MP4 = ["-movflags", "+faststart", "-f", "mp4"];

const CHROMA = 2;
/** The nearest valid video dimension. */
export const even = (pixels: number): number => Math.max(CHROMA, Math.round(pixels / CHROMA) * CHROMA);

/** A number for filters, never in exponent form. */
export const shown = (value: number): string => value.toFixed(6).replace(/\.?0{1,6}$/, "");

/** An input, with one decoding thread, because there may be many inputs. */
export const open = ({ path, demuxer }: Pick<Source, "path" | "demuxer">, ...before: string[]): string[] =>
  inputArguments(path, demuxer, "-threads", "1", ...before);

/** Runs ffmpeg in the operation's folder. */
export const ffmpeg = (job: Job, args: readonly string[], pipeBytes?: number) =>
  runFfmpeg({ program: job.ffmpeg, folder: job.folder, ...(pipeBytes === undefined ? {} : { pipeBytes }) }, args);

/** The result with its measures. */
export const described = async (job: Job, path: string, demuxer: string): Promise<WorkResult> => {
  const log = await describedByFfmpeg({ program: job.ffmpeg, folder: job.folder }, inputArguments(path, demuxer));
  const { seconds, video } = readDescription(log);
  return { path, durationSeconds: seconds, ...(video ? { width: video.width, height: video.height } : {}) };
};

/** Encodes an MP4. @param args inputs, filters, maps and codecs @throws InputError if it has no frames */
export const makeMp4 = async (job: Job, args: readonly string[]): Promise<WorkResult> => {
  const path = inFolder(job, "out.mp4");
  await ffmpeg(job, [...args, ...SAME_BYTES, ...MP4, path]);
  const result = await described(job, path, "mov");
  // ffmpeg succeeds even if a video has no frames.
  if (!result.durationSeconds || result.width === undefined) throw new InputError("its files have no pictures to make a video from");
  return result;
};

/** An intermediate result without audio. */
export const makeClip = async (job: Job, name: string, args: readonly string[]): Promise<string> => {
  const path = inFolder(job, name);
  await ffmpeg(job, [...args, ...H264, "-an", ...SAME_BYTES, ...MP4, path]);
  return path;
};

/** Copies the video stream, and reads additional output from the pipe. */
export const copyPictures = async (job: Job, name: string, input: readonly string[], more: readonly string[], pipeBytes: number) => {
  const path = inFolder(job, name);
  const { output } = await ffmpeg(job, [...input, "-map", "0:V:0", "-c", "copy", ...SAME_BYTES, ...MP4, path, ...more], pipeBytes);
  return { path, output };
};

export const makeFile = async (job: Job, name: string, args: readonly string[]): Promise<string> => {
  const path = inFolder(job, name);
  await ffmpeg(job, [...args, ...SAME_BYTES, path]);
  return path;
};
