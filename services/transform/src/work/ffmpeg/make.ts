import type { WorkResult } from "../../children/protocol";
import { inFolder, InputError, type Job } from "../job";
import { inputArguments } from "./formats";
import { readDescription, type Source } from "./probe";
import { describedByFfmpeg, runFfmpeg } from "./run";

/** What results have in common: how they are encoded, and that the same work gives the same bytes. */

/** Threads of one encoder: another number would give other bytes. */
const THREADS = "4";
export const SAMPLE_RATE = 48_000;

/** No dates, no names of programs, no random numbers. */
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
/** The nearest size that the pictures of a video may have. */
export const even = (pixels: number): number => Math.max(CHROMA, Math.round(pixels / CHROMA) * CHROMA);

/** A number in a filter: never in exponents. */
export const shown = (value: number): string => value.toFixed(6).replace(/\.?0{1,6}$/, "");

/** An input as it was given. Each has one thread for decoding, since there may be many. */
export const open = ({ path, demuxer }: Pick<Source, "path" | "demuxer">, ...before: string[]): string[] =>
  inputArguments(path, demuxer, "-threads", "1", ...before);

/** Runs ffmpeg in the folder of the operation. */
export const ffmpeg = (job: Job, args: readonly string[], pipeBytes?: number) =>
  runFfmpeg({ program: job.ffmpeg, folder: job.folder, ...(pipeBytes === undefined ? {} : { pipeBytes }) }, args);

/** The result with what is known of it. */
export const described = async (job: Job, path: string, demuxer: string): Promise<WorkResult> => {
  const log = await describedByFfmpeg({ program: job.ffmpeg, folder: job.folder }, inputArguments(path, demuxer));
  const { seconds, video } = readDescription(log);
  return { path, durationSeconds: seconds, ...(video ? { width: video.width, height: video.height } : {}) };
};

/** Makes an MP4 of inputs and what is to be done with them. @param args inputs, filters, maps and codecs @throws InputError where it has no pictures */
export const makeMp4 = async (job: Job, args: readonly string[]): Promise<WorkResult> => {
  const path = inFolder(job, "out.mp4");
  await ffmpeg(job, [...args, ...SAME_BYTES, ...MP4, path]);
  const result = await described(job, path, "mov");
  // ffmpeg is content with a film that has no picture.
  if (!result.durationSeconds || result.width === undefined) throw new InputError("there are no pictures in its files to make a video of");
  return result;
};

/** A step of an operation that another one goes on from: only pictures. */
export const makeClip = async (job: Job, name: string, args: readonly string[]): Promise<string> => {
  const path = inFolder(job, name);
  await ffmpeg(job, [...args, ...H264, "-an", ...SAME_BYTES, ...MP4, path]);
  return path;
};

/** The pictures of an input as they are, and what else is asked for of it on the pipe. */
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
