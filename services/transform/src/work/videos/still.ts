import { existsSync } from "node:fs";
import { asShown } from "../ffmpeg/filters";
import { ffmpeg, open, SAME_BYTES, decimalText } from "../ffmpeg/make";
import { countedSeconds, type Source, type VideoStream } from "../ffmpeg/probe";
import { inFolder, InputError, type Job } from "../job";

/** Extracts single frames of a video as PNG. */

type Video = Source & { video: VideoStream };

const FIRST = ["-frames:v", "1"];
const LAST = ["-update", "1"];
/** Number of seconds before the end in which the last frame is searched. */
const LAST_SECONDS = 3;

/** Writes the first or last frame after a time. @returns false if there is none, because ffmpeg then succeeds without writing a file */
const write = async (job: Job, source: Video, path: string, from: number, which: readonly string[]): Promise<boolean> => {
  const filter = `${asShown(source.video)}null`;
  const input = open(source, "-ss", decimalText(from));
  await ffmpeg(job, [...input, "-map", "0:V:0", "-vf", filter, ...which, "-f", "image2", "-c:v", "png", ...SAME_BYTES, path]);
  return existsSync(path);
};

/** Extracts the last frame of a video. Its audio can be longer. @returns the file's path @throws InputError if no frame can be read */
export const lastPicture = async (job: Job, source: Video, name: string): Promise<string> => {
  const path = inFolder(job, name);
  const end = await countedSeconds(job, open(source), "0:V:0");
  for (const from of new Set([Math.max(0, end - LAST_SECONDS), 0])) if (await write(job, source, path, from, LAST)) return path;
  throw new InputError(`${source.port}: the video has no frame that can be read`);
};

/** Extracts the frame displayed at a time; after the end, the last frame. @returns the file's path @throws InputError */
export const pictureAt = async (job: Job, source: Video, at: number, name: string): Promise<string> => {
  const path = inFolder(job, name);
  return (await write(job, source, path, at, FIRST)) ? path : lastPicture(job, source, name);
};
