import { existsSync } from "node:fs";
import { asShown } from "../ffmpeg/filters";
import { ffmpeg, open, SAME_BYTES, shown } from "../ffmpeg/make";
import { countedSeconds, type Source, type VideoStream } from "../ffmpeg/probe";
import { inFolder, InputError, type Job } from "../job";

/** Single frames of a video, as PNG. */

type Video = Source & { video: VideoStream };

const FIRST = ["-frames:v", "1"];
const LAST = ["-update", "1"];
/** Seconds before the end in which the last frame is searched. */
const LAST_SECONDS = 3;

/** Writes the first or last frame after a time. @returns false if there is none: ffmpeg then succeeds without writing */
const write = async (job: Job, source: Video, path: string, from: number, which: readonly string[]): Promise<boolean> => {
  const filter = `${asShown(source.video)}null`;
  const input = open(source, "-ss", shown(from));
  await ffmpeg(job, [...input, "-map", "0:V:0", "-vf", filter, ...which, "-f", "image2", "-c:v", "png", ...SAME_BYTES, path]);
  return existsSync(path);
};

/** The last frame of a video, whose audio can be longer. @returns its path @throws InputError if no frame can be read */
export const lastPicture = async (job: Job, source: Video, name: string): Promise<string> => {
  const path = inFolder(job, name);
  const end = await countedSeconds(job, open(source), "0:V:0");
  for (const from of new Set([Math.max(0, end - LAST_SECONDS), 0])) if (await write(job, source, path, from, LAST)) return path;
  throw new InputError(`${source.port}: the video has no frame that can be read`);
};

/** The frame displayed at a time; after the end, the last one. @returns its path @throws InputError */
export const pictureAt = async (job: Job, source: Video, at: number, name: string): Promise<string> => {
  const path = inFolder(job, name);
  return (await write(job, source, path, at, FIRST)) ? path : lastPicture(job, source, name);
};
