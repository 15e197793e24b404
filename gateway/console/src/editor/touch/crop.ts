import { anchored, cropSize, POSITIONS, type Cropping, type ImageBox, type ImageSize } from "@nodeloom/kernel/graph";
import { numberAt, textAt, type Settings } from "./settings";

export const ASPECTS = ["1:1", "4:3", "3:2", "16:9", "3:4", "2:3", "9:16"] as const;

export const ATTENTION = "attention";

export const croppingOf = (settings: Settings): Cropping => ({
  aspect: textAt(settings, "aspect"),
  width: numberAt(settings, "width"),
  height: numberAt(settings, "height"),
  x: numberAt(settings, "x"),
  y: numberAt(settings, "y"),
  position: textAt(settings, "position") ?? "centre",
});

/** Width to height; undefined for anything but "16:9". */
export const ratioOf = (aspect: string | undefined): number | undefined => {
  const [across, down] = (aspect ?? "").split(":").map(Number);
  return across !== undefined && down !== undefined && across > 0 && down > 0 ? across / down : undefined;
};

const isAt = (box: ImageBox, own: ImageSize, position: string): boolean => {
  const { left, top } = anchored(box, own, { position, margin: 0 });
  return left === box.left && top === box.top;
};

/**
 * Settings that keep a box. The largest box of an aspect is stored as that aspect, so that it also suits pictures of other sizes; any other
 * box is stored in pixels.
 * @param aspect kept while dragging
 */
export const cropChanges = (box: ImageBox, own: ImageSize, aspect: string | undefined): Settings => {
  const pixels = { aspect: undefined, width: box.width, height: box.height, x: box.left, y: box.top, position: undefined };
  if (ratioOf(aspect) === undefined) return pixels;
  const largest = cropSize({ aspect, position: "centre" }, own);
  if (largest.width !== box.width || largest.height !== box.height) return pixels;
  const anchor = POSITIONS.find((position) => isAt(box, own, position));
  const at = anchor === undefined ? { x: box.left, y: box.top } : { x: undefined, y: undefined };
  return { aspect, width: undefined, height: undefined, ...at, position: anchor === "centre" ? undefined : anchor };
};

/** A box with one number typed: its size is cut at the picture's edges, its position moves. */
export const withNumber = (box: ImageBox, name: keyof ImageBox, value: number, own: ImageSize): ImageBox => {
  const least = name === "width" || name === "height" ? 1 : 0;
  const next = { ...box, [name]: Math.max(least, Math.round(value)) };
  const [width, height] = [Math.min(next.width, own.width), Math.min(next.height, own.height)];
  return { width, height, left: Math.min(next.left, own.width - width), top: Math.min(next.top, own.height - height) };
};
