import sharp from "sharp";
import { BOUNDS } from "../../bounds";
import { filesAt, InputError, number, numberOf, text, type Operation } from "../job";
import { openImage, reading, writeImage } from "./open";

/** Arranges images in rows of equal cells. */
export const grid: Operation = async (job) => {
  const files = filesAt(job, "images");
  const columns = numberOf(job, "columns") ?? Math.ceil(Math.sqrt(files.length));
  const rows = Math.ceil(files.length / columns);
  const [width, height, gap] = [number(job, "cellWidth"), number(job, "cellHeight"), number(job, "gap")];
  const size = { width: columns * width + (columns + 1) * gap, height: rows * height + (rows + 1) * gap };
  if (size.width * size.height > BOUNDS.imagePixels) throw new InputError(`the grid would have ${size.width} × ${size.height} pixels`);
  const background = text(job, "background");
  const fit = text(job, "fit") as "cover" | "contain";
  const cells = [];
  for (const [index, file] of files.entries()) {
    const picture = await openImage(job, { ...file, port: `images.${index}` });
    const input = await reading(picture.port, () => picture.pipeline().resize({ width, height, fit, background }).png().toBuffer());
    cells.push({ input, left: gap + (index % columns) * (width + gap), top: gap + Math.floor(index / columns) * (height + gap) });
  }
  return writeImage(sharp({ create: { ...size, channels: 3, background } }).composite(cells), job.folder, "png");
};
