import { existsSync } from "node:fs";
import { asShown } from "../ffmpeg/filters";
import { ffmpeg, open, SAME_BYTES, shown } from "../ffmpeg/make";
import { countedSeconds, type Source, type VideoStream } from "../ffmpeg/probe";
import { inFolder, InputError, type Job } from "../job";

/** Single pictures of a video, as PNG. */

type Video = Source & { video: VideoStream };

const FIRST = ["-frames:v", "1"];
const LAST = ["-update", "1"];
/** Where the last picture is looked for, before the end of the pictures. */
const LAST_SECONDS = 3;

/** Writes the first or the last picture from a moment on. @returns whether there is one: ffmpeg writes nothing then, and is content */
const write = async (job: Job, source: Video, path: string, from: number, which: readonly string[]): Promise<boolean> => {
  const filter = `${asShown(source.video)}null`;
  const input = open(source, "-ss", shown(from));
  await ffmpeg(job, [...input, "-map", "0:V:0", "-vf", filter, ...which, "-f", "image2", "-c:v", "png", ...SAME_BYTES, path]);
  return existsSync(path);
};

/** The last picture of a video; its sound may go on for longer. @returns its path @throws InputError where no picture can be read */
export const lastPicture = async (job: Job, source: Video, name: string): Promise<string> => {
  const path = inFolder(job, name);
  const end = await countedSeconds(job, open(source), "0:V:0");
  for (const from of new Set([Math.max(0, end - LAST_SECONDS), 0])) if (await write(job, source, path, from, LAST)) return path;
  throw new InputError(`${source.port}: the video has no picture that can be read`);
};

/** The picture that a video shows at a moment: behind its last one, that one. @returns its path @throws InputError */
export const pictureAt = async (job: Job, source: Video, at: number, name: string): Promise<string> => {
  const path = inFolder(job, name);
  return (await write(job, source, path, at, FIRST)) ? path : lastPicture(job, source, name);
};
