import { SHAPES_SCHEMA } from "./mask-shapes";
import { choice, explained, file, flag, mask, number, operationsOf, whole } from "./operation";

const maskOperations = operationsOf("mask", "images");

/** Farthest that a mask grows, shrinks or blurs, in pixels. */
const MOST_PIXELS = 250;

export const feather = (fallback: number) =>
  explained("Width of the soft edge, in pixels of the image.", number(0, MOST_PIXELS, "Feather (pixels)", fallback));

export const MASK_OPERATIONS = [
  maskOperations({
    name: "mask-draw",
    title: "Draw a mask",
    summary: "Selects parts of an image with a brush, an eraser and rectangles.",
    required: ["image"],
    properties: {
      image: file("image", "Image"),
      mask: explained("The mask to draw on. Leave empty to start with nothing selected.", mask("Start from")),
      shapes: SHAPES_SCHEMA,
      feather: feather(0),
      invert: explained("Selects everything except the shapes.", flag("Invert")),
    },
  }),
  maskOperations({
    name: "mask-from-image",
    title: "Make a mask from an image",
    summary: "Selects the opaque or the bright parts of an image, such as the subject of a cut-out.",
    required: ["image"],
    properties: {
      image: file("image", "Image"),
      by: explained("`alpha` selects opaque parts, `brightness` bright ones.", choice(["alpha", "brightness"], "Select by")),
      threshold: explained(
        "Parts at or above this level are selected, the others aren't. Leave empty to keep soft edges.",
        number(0, 1, "Threshold"),
      ),
      invert: explained("Selects the other parts.", flag("Invert")),
    },
  }),
  maskOperations({
    name: "mask-combine",
    title: "Combine masks",
    summary: "Joins two masks, keeps their common part, or subtracts one from the other.",
    required: ["mask", "other"],
    properties: {
      mask: mask("Mask"),
      other: explained("Scaled to the size of the first mask.", mask("Other mask")),
      method: choice(["union", "intersect", "subtract"], "Method"),
    },
  }),
  maskOperations({
    name: "mask-grow",
    title: "Grow or shrink a mask",
    summary: "Moves the edge of a mask outwards or inwards. The edge becomes hard.",
    required: ["mask"],
    properties: {
      mask: mask("Mask"),
      pixels: explained("A negative number shrinks the mask.", whole(-MOST_PIXELS, MOST_PIXELS, "Pixels", 8)),
    },
  }),
  maskOperations({
    name: "mask-blur",
    title: "Blur a mask",
    summary: "Softens the edge of a mask.",
    required: ["mask"],
    properties: { mask: mask("Mask"), feather: feather(8) },
  }),
  maskOperations({
    name: "mask-invert",
    title: "Invert a mask",
    summary: "Selects the parts that weren't selected.",
    required: ["mask"],
    properties: { mask: mask("Mask") },
  }),
] as const;
