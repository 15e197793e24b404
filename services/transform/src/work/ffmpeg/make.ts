import type { WorkResult } from "../../children/protocol";
import { inFolder, InputError, type Job } from "../job";
import { inputArguments } from "./formats";
import { readDescription, type Source } from "./probe";
import { describedByFfmpeg, runFfmpeg } from "./run";

/** Common encoding settings. They make equal work produce equal bytes. */

/** Number of encoder threads. It is fixed, because the number affects the bytes. */
const THREADS = "4";
export const SAMPLE_RATE = 48_000;

/** Omits dates, program names and random numbers. */
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
/** Returns the nearest valid dimension of a video. */
export const even = (pixels: number): number => Math.max(CHROMA, Math.round(pixels / CHROMA) * CHROMA);

/** Formats a number for filters, never in exponent form. */
export const decimalText = (value: number): string => value.toFixed(6).replace(/\.?0{1,6}$/, "");

/** Arguments for an input. It is decoded with one thread, because there can be many inputs. */
export const open = ({ path, demuxer }: Pick<Source, "path" | "demuxer">, ...before: string[]): string[] =>
  inputArguments(path, demuxer, "-threads", "1", ...before);

/** Runs ffmpeg in the operation's folder. */
export const ffmpeg = (job: Job, args: readonly string[], pipeBytes?: number) =>
  runFfmpeg({ program: job.ffmpeg, folder: job.folder, ...(pipeBytes === undefined ? {} : { pipeBytes }) }, args);

/** Returns the result with its dimensions and duration. */
export const described = async (job: Job, path: string, demuxer: string): Promise<WorkResult> => {
  const log = await describedByFfmpeg({ program: job.ffmpeg, folder: job.folder }, inputArguments(path, demuxer));
  const { seconds, video } = readDescription(log);
  return { path, durationSeconds: seconds, ...(video ? { width: video.width, height: video.height } : {}) };
};

/** Encodes an MP4 file. @param args inputs, filters, maps and codecs @throws InputError if the result has no frames */
export const makeMp4 = async (job: Job, args: readonly string[]): Promise<WorkResult> => {
  const path = inFolder(job, "out.mp4");
  await ffmpeg(job, [...args, ...SAME_BYTES, ...MP4, path]);
  const result = await described(job, path, "mov");
  // ffmpeg doesn't fail if a video has no frames.
  if (!result.durationSeconds || result.width === undefined) throw new InputError("its files have no pictures to make a video from");
  return result;
};

/** Encodes an intermediate result without audio. */
export const makeClip = async (job: Job, name: string, args: readonly string[]): Promise<string> => {
  const path = inFolder(job, name);
  await ffmpeg(job, [...args, ...H264, "-an", ...SAME_BYTES, ...MP4, path]);
  return path;
};

/** Copies the video stream and reads additional output from the pipe. */
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
