import { MOST_PIXELS_WIDE } from "@nodeloom/kernel";
import { BOUNDS } from "../../bounds";
import { fileAt, InputError, number, text, type Operation } from "../job";
import { openImage, reading, writeImage } from "./open";

/** Adds space on the sides of an image. */
export const extend: Operation = async (job) => {
  const picture = await openImage(job, fileAt(job, "image"));
  const [left, right, top, bottom] = ["left", "right", "top", "bottom"].map((name) => number(job, name)) as [
    number,
    number,
    number,
    number,
  ];
  const [width, height] = [picture.width + left + right, picture.height + top + bottom];
  if (Math.max(width, height) > MOST_PIXELS_WIDE || width * height > BOUNDS.imagePixels)
    throw new InputError(`the image would have ${width} × ${height} pixels; its sides can have at most ${MOST_PIXELS_WIDE}`);
  const background = text(job, "background");
  const pipeline = picture.pipeline().toColourspace("srgb").ensureAlpha().extend({ left, right, top, bottom, background });
  return reading(picture.port, () => writeImage(pipeline, job.folder, "png"));
};
