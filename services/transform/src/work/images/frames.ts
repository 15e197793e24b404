import sharp, { type Sharp } from "sharp";
import { BOUNDS } from "../../bounds";
import type { WorkResult } from "../../children/protocol";
import { InputError, type Job } from "../job";
import { formatOf, writeImage, type Picture } from "./open";

/**
 * Processes animations frame by frame. libvips stores an animation as one tall image, and scaling that image would blend adjacent frames.
 */

const CHANNELS = 4;

const changedFrames = async ({ port, pipeline, width, height, metadata }: Picture, change: (frame: Sharp) => Sharp): Promise<Sharp> => {
  const all = await pipeline().toColourspace("srgb").ensureAlpha().raw().toBuffer();
  const bytes = width * height * CHANNELS;
  const pages = Math.floor(all.length / bytes);
  let frames = Buffer.alloc(0);
  let size = { width, height };
  for (let page = 0; page < pages; page += 1) {
    const frame = sharp(all.subarray(page * bytes, (page + 1) * bytes), { raw: { width, height, channels: CHANNELS } });
    const { data, info } = await change(frame).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    size = { width: info.width, height: info.height };
    if (size.width * size.height * pages > BOUNDS.imagePixels)
      throw new InputError(`${port}: the ${pages} pictures of the result would have more than ${BOUNDS.imagePixels} pixels together`);
    if (page === 0) frames = Buffer.allocUnsafe(data.length * pages);
    data.copy(frames, page * data.length);
  }
  const raw = { width: size.width, height: size.height * pages, channels: CHANNELS, pageHeight: size.height } as const;
  const { delay, loop } = metadata;
  // Raw pixels have no frame delays, so the GIF step sets them for every output format.
  const times = { ...(delay ? { delay } : {}), ...(loop === undefined ? {} : { loop }) };
  return sharp(frames, { raw, limitInputPixels: false }).gif(times);
};

/** Changes each frame of an image and writes it in its original format. */
export const writeChanged = async (job: Job, picture: Picture, change: (frame: Sharp) => Sharp): Promise<WorkResult> => {
  const changed = picture.isAnimated ? await changedFrames(picture, change) : change(picture.pipeline());
  return writeImage(changed, job.folder, formatOf(picture));
};
