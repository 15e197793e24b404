import type { JsonSchema } from "../prices/price";

/** Shapes of a drawn mask, as settings. */

export const MASK_SHAPES = { shapes: 500, points: 2_000, allPoints: 20_000, work: 20_000_000_000 } as const;

/** One stroke or rectangle. Positions are shares of the image's width and height; a brush's size is a share of its longer side. */
export interface MaskShape {
  tool: "brush" | "rectangle";
  /** True to deselect instead of select. */
  erase?: boolean;
  points?: readonly (readonly [number, number])[];
  /** Diameter of the brush. */
  size?: number;
  x?: number;
  y?: number;
  width?: number;
  height?: number;
}

/** Positions can lie outside of the image, because strokes leave it. */
const position: JsonSchema = { type: "number", minimum: -1, maximum: 2 };
const side: JsonSchema = { type: "number", minimum: 0, maximum: 3 };

export const SHAPES_SCHEMA: JsonSchema = {
  type: "array",
  maxItems: MASK_SHAPES.shapes,
  title: "Shapes",
  description:
    'Brush strokes and rectangles, in order: `{"tool": "brush", "points": [[0.2, 0.3], [0.5, 0.3]], "size": 0.1}` and `{"tool": "rectangle", "x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}`. Positions are shares of the width and height, `size` is a share of the longer side. `"erase": true` deselects.',
  items: {
    type: "object",
    additionalProperties: false,
    required: ["tool"],
    properties: {
      tool: { type: "string", enum: ["brush", "rectangle"] },
      erase: { type: "boolean" },
      points: {
        type: "array",
        minItems: 1,
        maxItems: MASK_SHAPES.points,
        items: { type: "array", minItems: 2, maxItems: 2, items: position },
      },
      size: { type: "number", minimum: 0, maximum: 1 },
      x: position,
      y: position,
      width: side,
      height: side,
    },
    if: { properties: { tool: { const: "rectangle" } } },
    then: { required: ["x", "y", "width", "height"] },
    else: { required: ["points", "size"] },
  },
};
