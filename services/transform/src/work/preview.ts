import { writeFile } from "node:fs/promises";
import sharp from "sharp";
import type { WorkResult } from "../children/protocol";
import { ffmpeg, open } from "./ffmpeg/make";
import { openAudio, openVideo } from "./ffmpeg/probe";
import { openImage, reading } from "./images/open";
import { fileAt, inFolder, number, text, type Job, type Operation } from "./job";
import { pictureAt } from "./videos/still";

/** Thumbnails of files, and loudness curves of audio. */

const QUALITY = 80;
export const PEAKS = 400;
const PEAK_RATE = 8_000;
const SAMPLE_BYTES = 2;
const LOUDEST = 32_768;
const PIPE_BYTES = 64 * 1_024 * 1_024;
/** Position of a video's thumbnail as a share of its duration, because the first frames are often black. */
const POSTER_SHARE = 0.1;
const POSTER_MOST_SECONDS = 3;

const ofImage = async (job: Job): Promise<WorkResult> => {
  const picture = await openImage(job, fileAt(job, "file"));
  const path = inFolder(job, "preview.webp");
  const { width, height } = await reading("file", () =>
    picture
      .pipeline()
      .resize({ width: number(job, "width"), withoutEnlargement: true })
      .webp({ quality: QUALITY })
      .toFile(path),
  );
  return { path, width, height };
};

const ofVideo = async (job: Job): Promise<WorkResult> => {
  const source = await openVideo(job, fileAt(job, "file"));
  const at = Math.min(POSTER_MOST_SECONDS, source.seconds * POSTER_SHARE);
  const poster = await pictureAt(job, source, at, "poster.png");
  const path = inFolder(job, "preview.webp");
  const { width, height } = await sharp(poster)
    .resize({ width: number(job, "width"), withoutEnlargement: true })
    .webp({ quality: QUALITY })
    .toFile(path);
  return { path, width, height };
};

/** Returns the peak of each part of the audio, from 0 to 1. @param samples 16-bit samples */
export const peaksOf = (samples: Buffer): number[] => {
  const count = Math.floor(samples.length / SAMPLE_BYTES);
  return Array.from({ length: PEAKS }, (_, part) => {
    const [from, to] = [Math.floor((part * count) / PEAKS), Math.floor(((part + 1) * count) / PEAKS)];
    let highest = 0;
    for (let at = from; at < to; at += 1) highest = Math.max(highest, Math.abs(samples.readInt16LE(at * SAMPLE_BYTES)));
    return Math.round((highest / LOUDEST) * 1_000) / 1_000;
  });
};

const ofAudio = async (job: Job): Promise<WorkResult> => {
  const source = await openAudio(job, fileAt(job, "file"));
  const args = ["-map", "0:a:0", "-ac", "1", "-ar", String(PEAK_RATE), "-f", "s16le", "pipe:1"];
  const { output } = await ffmpeg(job, [...open(source), ...args], PIPE_BYTES);
  const path = inFolder(job, "preview.json");
  await writeFile(path, JSON.stringify({ peaks: peaksOf(output) }));
  return { path, durationSeconds: source.seconds };
};

export const preview: Operation = (job) => {
  const family = text(job, "family");
  return family === "video" ? ofVideo(job) : family === "audio" ? ofAudio(job) : ofImage(job);
};
