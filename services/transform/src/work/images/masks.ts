import { drawShapes, ShapesError, type ImageSize, type MaskShape } from "@nodeloom/kernel";
import sharp, { type Sharp } from "sharp";
import type { WorkFile, WorkResult } from "../../children/protocol";
import { fileAt, filesAt, InputError, isOn, number, numberOf, text, type Job, type Operation } from "../job";
import { near } from "./distances";
import { openImage, reading, writeImage, type Picture } from "./open";

/** Masks: one byte per pixel, 255 is selected. */

const SELECTED = 255;
const MIDDLE = 128;
/** Shapes are drawn with at most this many pixels and scaled to larger images. */
const DRAWN_PIXELS = 4_000_000;
/** The standard deviation of a blur is half of the width of the soft edge. sharp rejects smaller ones. */
const LEAST_SIGMA = 0.3;

interface Mask extends ImageSize {
  levels: Uint8Array;
}

const raw = ({ width, height, levels }: Mask): Sharp => sharp(levels, { raw: { width, height, channels: 1 } });

const levelsOf = async (pipeline: Sharp): Promise<Mask> => {
  const { data, info } = await pipeline.toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  return { levels: data, width: info.width, height: info.height };
};

const inverted = (mask: Mask): Mask => ({ ...mask, levels: mask.levels.map((level) => SELECTED - level) });

const scaled = async (mask: Mask, { width, height }: ImageSize): Promise<Mask> =>
  mask.width === width && mask.height === height
    ? mask
    : levelsOf(raw(mask).resize({ width, height, fit: "fill", kernel: sharp.kernel.linear }));

const feathered = async (mask: Mask, feather: number): Promise<Mask> =>
  feather / 2 < LEAST_SIGMA ? mask : levelsOf(raw(mask).blur({ sigma: feather / 2 }));

/** The alpha channel; undefined if the image is opaque. */
const alphaOf = async (picture: Picture): Promise<Mask | undefined> => {
  if (!picture.metadata.hasAlpha) return undefined;
  const alpha = await levelsOf(picture.pipeline().extractChannel("alpha"));
  return alpha.levels.every((level) => level === SELECTED) ? undefined : alpha;
};

const brightnessOf = (picture: Picture): Promise<Mask> => levelsOf(picture.pipeline().removeAlpha());

/**
 * Reads a file as a mask. If it has transparent parts, these are selected, as in the masks of OpenAI and ComfyUI. Otherwise white is
 * selected.
 */
const readMask = async (job: Job, file: WorkFile): Promise<Mask> => {
  const picture = await openImage(job, file);
  return reading(file.port, async () => {
    const alpha = await alphaOf(picture);
    return alpha ? inverted(alpha) : brightnessOf(picture);
  });
};

const write = (job: Job, mask: Mask): Promise<WorkResult> => writeImage(raw(mask).toColourspace("b-w"), job.folder, "png");

const drawn = ({ width, height, levels }: Mask, shapes: readonly MaskShape[]): void => {
  try {
    drawShapes(levels, { width, height }, shapes);
  } catch (error) {
    throw error instanceof ShapesError ? new InputError(error.message) : error;
  }
};

export const draw: Operation = async (job) => {
  const picture = await openImage(job, fileAt(job, "image"));
  const shapes = (job.settings.shapes ?? []) as readonly MaskShape[];
  const scale = Math.min(1, Math.sqrt(DRAWN_PIXELS / (picture.width * picture.height)));
  const size = { width: Math.max(1, Math.round(picture.width * scale)), height: Math.max(1, Math.round(picture.height * scale)) };
  const [start] = filesAt(job, "mask");
  const empty: Mask = { ...size, levels: new Uint8Array(size.width * size.height) };
  const mask = start ? await scaled(await readMask(job, start), size) : empty;
  drawn(mask, shapes);
  const soft = await feathered(await scaled(mask, picture), number(job, "feather"));
  return write(job, isOn(job, "invert") ? inverted(soft) : soft);
};

export const fromImage: Operation = async (job) => {
  const picture = await openImage(job, fileAt(job, "image"));
  const mask = await reading(picture.port, async () => {
    if (text(job, "by") === "brightness") return brightnessOf(picture);
    const { width, height } = picture;
    return (await alphaOf(picture)) ?? { width, height, levels: new Uint8Array(width * height).fill(SELECTED) };
  });
  const threshold = numberOf(job, "threshold");
  const least = threshold === undefined ? undefined : threshold * SELECTED;
  const sharpened = least === undefined ? mask : { ...mask, levels: mask.levels.map((level) => (level >= least ? SELECTED : 0)) };
  return write(job, isOn(job, "invert") ? inverted(sharpened) : sharpened);
};

const METHODS: Readonly<Record<string, (one: number, other: number) => number>> = {
  union: Math.max,
  intersect: Math.min,
  subtract: (one, other) => Math.min(one, SELECTED - other),
};

export const combine: Operation = async (job) => {
  const mask = await readMask(job, fileAt(job, "mask"));
  const other = await scaled(await readMask(job, fileAt(job, "other")), mask);
  const join = METHODS[text(job, "method")]!;
  return write(job, { ...mask, levels: mask.levels.map((level, index) => join(level, other.levels[index]!)) });
};

export const grow: Operation = async (job) => {
  const mask = await readMask(job, fileAt(job, "mask"));
  const pixels = number(job, "pixels");
  if (pixels >= 0) return write(job, { ...mask, levels: near(mask.levels, mask, pixels, (level) => level >= MIDDLE) });
  return write(job, inverted({ ...mask, levels: near(mask.levels, mask, -pixels, (level) => level < MIDDLE) }));
};

export const blur: Operation = async (job) => write(job, await feathered(await readMask(job, fileAt(job, "mask")), number(job, "feather")));

export const invert: Operation = async (job) => write(job, inverted(await readMask(job, fileAt(job, "mask"))));

/** Writes an image with another alpha channel. */
const writeWithAlpha = (job: Job, colours: Sharp, alpha: Mask): Promise<WorkResult> => {
  const { width, height, levels } = alpha;
  return writeImage(colours.joinChannel(Buffer.from(levels), { raw: { width, height, channels: 1 } }), job.folder, "png");
};

export const apply: Operation = async (job) => {
  const picture = await openImage(job, fileAt(job, "image"));
  const maskPicture = await scaled(await readMask(job, fileAt(job, "mask")), picture);
  const mask = text(job, "keep") === "rest" ? inverted(maskPicture) : maskPicture;
  return reading(picture.port, async () => {
    const own = await alphaOf(picture);
    const levels = own ? mask.levels.map((level, index) => Math.round((level * own.levels[index]!) / SELECTED)) : mask.levels;
    // Written and read once, because the colours lose their alpha channel before they get a new one.
    const colours = await picture.pipeline().toColourspace("srgb").removeAlpha().png().toBuffer();
    return writeWithAlpha(job, sharp(colours), { ...mask, levels });
  });
};

export const asImage: Operation = async (job) => {
  const [sized] = filesAt(job, "image");
  const maskPicture = await readMask(job, fileAt(job, "mask"));
  const mask = sized ? await scaled(maskPicture, await openImage(job, sized)) : maskPicture;
  const form = text(job, "form");
  if (form !== "transparent") return write(job, form === "black" ? inverted(mask) : mask);
  const { width, height } = mask;
  return writeWithAlpha(job, sharp({ create: { width, height, channels: 3, background: "#ffffff" } }), inverted(mask));
};
