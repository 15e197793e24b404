import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { assetFolder, assetsFolder, FFMPEG_ASSET } from "@nodeloom/platform";
import sharp from "sharp";

/** Baseline of media operations: the same work by sharp and ffmpeg on local files. */

const run = promisify(execFile);
const MOST_BYTES = 64 * 1_024 * 1_024;

/** The ffmpeg that the platform also uses. @throws Error if there is none */
const program = (): string => {
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "ffmpeg"));
  const ownFfmpeg = join(assetFolder(assetsFolder(process.env), "ffmpeg", FFMPEG_ASSET), "ffmpeg");
  const ffmpegPath = [process.env.FFMPEG_PATH ?? "", ...onPath, ownFfmpeg].find((path) => path !== "" && existsSync(path));
  if (ffmpegPath === undefined) throw new Error("there is no ffmpeg: npm run drill media fetches it, and FFMPEG_PATH names another");
  return ffmpegPath;
};

/** @returns the duration in milliseconds */
export const ffmpeg = async (args: readonly string[], cwd: string): Promise<number> => {
  const startedAt = performance.now();
  await run(program(), ["-v", "error", "-y", "-nostdin", ...args], { cwd, maxBuffer: MOST_BYTES });
  return performance.now() - startedAt;
};

/** The platform's encoder settings. */
export const H264 = [..."-c:v libx264 -preset veryfast -crf 20 -pix_fmt yuv420p -threads 4 -profile:v high".split(" ")];
export const AAC = [..."-c:a aac -b:a 160k -ar 48000 -ac 2".split(" ")];

/** A photo with noise, which compresses badly. */
export const photo = (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: "#777", noise: { type: "gaussian", mean: 128, sigma: 24 } } })
    .blur(2)
    .jpeg({ quality: 88 })
    .toBuffer();

/** @returns the duration in milliseconds */
export const resized = async (bytes: Buffer, width: number): Promise<number> => {
  const startedAt = performance.now();
  await sharp(bytes).rotate().resize({ width }).jpeg({ quality: 85 }).toBuffer();
  return performance.now() - startedAt;
};
