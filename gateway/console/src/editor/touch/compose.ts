import { layerBox, MOST_PIXELS_WIDE, type ImageBox, type ImageSize } from "@nodeloom/kernel/graph";
import { clamped, dragged, type Grip, type Shift } from "./boxes";
import { numberAt, textAt, type Settings } from "./settings";

/** Where the layer of a composition lies. */
export const layerOf = (settings: Settings, layer: ImageSize, image: ImageSize): ImageBox =>
  layerBox(layer, image, {
    position: textAt(settings, "position") ?? "centre",
    x: numberAt(settings, "x"),
    y: numberAt(settings, "y"),
    width: numberAt(settings, "width"),
    margin: numberAt(settings, "margin") ?? 0,
  });

/** Lines that a layer snapped to, in pixels of the image. */
export interface Guides {
  x: number | undefined;
  y: number | undefined;
}

/** Moves one side's start so that its start, middle or end meets a line. */
const snappedSide = (
  start: number,
  length: number,
  lines: readonly number[],
  within: number,
): { start: number; line: number | undefined } => {
  const meets = [0, length / 2, length].flatMap((offset) => lines.map((line) => ({ start: Math.round(line - offset), line })));
  const near = meets.filter((one) => Math.abs(one.start - start) <= within);
  const best = near.toSorted((a, b) => Math.abs(a.start - start) - Math.abs(b.start - start))[0];
  return best ?? { start, line: undefined };
};

/** A moved layer on the image's edges, middle and margins, if it is near them. */
export const snapped = (box: ImageBox, image: ImageSize, margin: number, within: number): { box: ImageBox; guides: Guides } => {
  const linesOf = (side: number): number[] => [0, side / 2, side, ...(margin > 0 ? [margin, side - margin] : [])];
  const x = snappedSide(box.left, box.width, linesOf(image.width), within);
  const y = snappedSide(box.top, box.height, linesOf(image.height), within);
  return { box: { ...box, left: x.start, top: y.start }, guides: { x: x.line, y: y.line } };
};

/** A position at which at least one pixel of the layer is on the image, as the operation requires. */
const onImage = (box: ImageBox, image: ImageSize): ImageBox => ({
  ...box,
  left: clamped(box.left, 1 - box.width, image.width - 1),
  top: clamped(box.top, 1 - box.height, image.height - 1),
});

const edgesOf = (box: ImageBox, image: ImageSize): Settings => {
  const { left, top } = onImage(box, image);
  return { x: left, y: top };
};

/**
 * Settings after a drag. A corner keeps the layer's proportions.
 * @param within distance at which a moved layer snaps; 0 for keys
 */
export const composeChanges = (
  settings: Settings,
  { layer, image }: { layer: ImageSize; image: ImageSize },
  from: ImageBox,
  grip: Grip,
  by: Shift,
  within: number,
): { changes: Settings; guides: Guides } => {
  const free = dragged(from, grip, by, grip === "move" ? {} : { ratio: layer.width / layer.height });
  if (grip === "move") {
    const { box, guides } = snapped(free, image, numberAt(settings, "margin") ?? 0, within);
    return { changes: edgesOf(box, image), guides };
  }
  const width = clamped(free.width, 1, MOST_PIXELS_WIDE);
  const { height } = layerOf({ ...settings, width }, layer, image);
  const box = {
    width,
    height,
    left: grip.includes("w") ? from.left + from.width - width : from.left,
    top: grip.includes("n") ? from.top + from.height - height : from.top,
  };
  return { changes: { width, ...edgesOf(box, image) }, guides: { x: undefined, y: undefined } };
};
