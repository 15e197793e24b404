import { writeFile } from "node:fs/promises";
import sharp from "sharp";
import { mediaFamily } from "@nodeloom/kernel";
import type { WorkFile } from "../children/protocol";
import { openAudio, openVideo } from "./ffmpeg/probe";
import { openImage, reading } from "./images/open";
import { compare, type Similarity } from "./images/similarity";
import { fileAt, filesAt, inFolder, InputError, isOn, type Job, type Operation } from "./job";
import { measuredLoudness } from "./sounds/sounds";
import { pictureAt } from "./videos/still";

/** Measures a file: its loudness, and its similarity to a golden file. The result is a JSON file. */

/** Times of the compared frames, as shares of each video's duration. */
const FRAMES = [0.1, 0.5, 0.9];
const DIGITS = 10_000;

const rounded = (value: number): number => Math.round(value * DIGITS) / DIGITS;

const ofImages = async (job: Job, file: WorkFile, golden: WorkFile): Promise<Similarity> => {
  const [picture, goldenPicture] = [await openImage(job, file), await openImage(job, golden)];
  return reading("file", () => compare(picture.pipeline, goldenPicture.pipeline, goldenPicture));
};

/** The lowest similarity of a few frames. */
const ofVideos = async (job: Job, file: WorkFile, golden: WorkFile): Promise<Similarity> => {
  const [video, goldenVideo] = [await openVideo(job, file), await openVideo(job, golden)];
  const frames: Similarity[] = [];
  for (const share of FRAMES) {
    const frame = await pictureAt(job, video, video.seconds * share, `frame-${share}.png`);
    const goldenFrame = await pictureAt(job, goldenVideo, goldenVideo.seconds * share, `golden-${share}.png`);
    frames.push(
      await compare(
        () => sharp(frame),
        () => sharp(goldenFrame),
        goldenVideo.video,
      ),
    );
  }
  return { ssim: Math.min(...frames.map(({ ssim }) => ssim)), hash: Math.min(...frames.map(({ hash }) => hash)) };
};

const similarityOf = async (job: Job, file: WorkFile, golden: WorkFile): Promise<Similarity> => {
  const [family, goldenFamily] = [mediaFamily(file.contentType), mediaFamily(golden.contentType)];
  if (family !== goldenFamily) throw new InputError(`the file is ${file.contentType}, and the golden file ${golden.contentType}`);
  if (family !== "image" && family !== "video") throw new InputError(`similarTo compares pictures and videos, not ${file.contentType}`);
  const { ssim, hash } = await (family === "image" ? ofImages(job, file, golden) : ofVideos(job, file, golden));
  return { ssim: rounded(ssim), hash: rounded(hash) };
};

export const measure: Operation = async (job) => {
  const file = fileAt(job, "file");
  const [golden] = filesAt(job, "golden");
  const loudness = isOn(job, "loudness") ? { loudness: await measuredLoudness(job, await openAudio(job, file)) } : {};
  const similarity = golden ? await similarityOf(job, file, golden) : {};
  const path = inFolder(job, "measured.json");
  await writeFile(path, JSON.stringify({ ...loudness, ...similarity }));
  return { path };
};
