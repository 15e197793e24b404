import sharp, { type OverlayOptions, type Sharp } from "sharp";
import { anchored, cropBox, cropSize, MOST_PIXELS_WIDE, type Cropping } from "@nodeloom/kernel";
import { fileAt, InputError, isOn, number, numberOf, text, type Operation } from "../job";
import { writeChanged } from "./frames";
import { formatOf, openImage, reading, writeImage, type ImageFormat } from "./open";

const FORMATS_WITHOUT_ALPHA: ReadonlySet<ImageFormat> = new Set(["jpeg"]);

export const resize: Operation = async (job) => {
  const picture = await openImage(job, fileAt(job, "image"), true);
  const [width, height] = [numberOf(job, "width"), numberOf(job, "height")];
  if (width === undefined && height === undefined) throw new InputError("width or height is needed");
  const fit = text(job, "fit") as "inside" | "cover" | "contain" | "fill";
  const aspect = picture.width / picture.height;
  const followed = width === undefined ? height! * aspect : width / aspect;
  if (followed > MOST_PIXELS_WIDE) throw new InputError(`the other side would be longer than ${MOST_PIXELS_WIDE} pixels`);
  const options = { width, height, fit, withoutEnlargement: !isOn(job, "enlarge"), background: text(job, "background") };
  const sigma = number(job, "sharpen");
  const resized = (frame: Sharp): Sharp => (sigma > 0 ? frame.resize(options).sharpen({ sigma }) : frame.resize(options));
  return reading(picture.port, () => writeChanged(job, picture, resized));
};

export const crop: Operation = async (job) => {
  const picture = await openImage(job, fileAt(job, "image"), true);
  const position = text(job, "position");
  const [width, height, x, y] = ["width", "height", "x", "y"].map((name) => numberOf(job, name));
  const cropping: Cropping = { aspect: text(job, "aspect"), width, height, x, y, position };
  const part = cropSize(cropping, picture);
  if (part.width > picture.width || part.height > picture.height)
    throw new InputError(`the part of ${part.width} × ${part.height} is larger than the image of ${picture.width} × ${picture.height}`);
  if (position === "attention" && x === undefined && !picture.isAnimated)
    return reading(picture.port, () =>
      writeImage(picture.pipeline().resize({ ...part, fit: "cover", position: sharp.strategy.attention }), job.folder, formatOf(picture)),
    );
  const box = cropBox(cropping, picture);
  return reading(picture.port, () => writeImage(picture.pipeline().extract(box), job.folder, formatOf(picture)));
};

export const convert: Operation = async (job) => {
  const format = text(job, "format") as ImageFormat;
  const picture = await openImage(job, fileAt(job, "image"), format === "gif" || format === "webp");
  const pipeline = picture.pipeline();
  if (FORMATS_WITHOUT_ALPHA.has(format)) pipeline.flatten({ background: text(job, "background") });
  return reading(picture.port, () => writeImage(pipeline, job.folder, format, number(job, "quality")));
};

export const composite: Operation = async (job) => {
  const [image, over] = [await openImage(job, fileAt(job, "image"), true), await openImage(job, fileAt(job, "overlay"))];
  const opacity = number(job, "opacity");
  const layer = over.pipeline().toColourspace("srgb").ensureAlpha();
  const width = numberOf(job, "width");
  if (width !== undefined) layer.resize({ width });
  const whole = await reading("overlay", () => layer.png().toBuffer());
  const faded = opacity < 1 ? sharp(whole).linear([1, 1, 1, opacity], [0, 0, 0, 0]) : sharp(whole);
  const { data, info } = await faded.png().toBuffer({ resolveWithObject: true });
  const at = anchored(info, image, {
    position: text(job, "position"),
    x: numberOf(job, "x"),
    y: numberOf(job, "y"),
    margin: number(job, "margin"),
  });
  // Cropped, because libvips rejects a layer that is larger than its base.
  const cut = {
    left: Math.max(0, -at.left),
    top: Math.max(0, -at.top),
    width: Math.min(info.width, image.width - at.left) - Math.max(0, -at.left),
    height: Math.min(info.height, image.height - at.top) - Math.max(0, -at.top),
  };
  if (cut.width <= 0 || cut.height <= 0) throw new InputError("the overlay lies outside of the image");
  const input = await sharp(data).extract(cut).png().toBuffer();
  const overlay: OverlayOptions = { input, left: Math.max(0, at.left), top: Math.max(0, at.top), blend: text(job, "blend") as "over" };
  return reading("image", () => writeChanged(job, image, (frame) => frame.composite([overlay])));
};
