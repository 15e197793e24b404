import type { DocNode } from "../../../document/graph";

/** Colours of frames and notes: `data.color`, with both themes in canvas.css. */
export const PAINTS = ["grey", "yellow", "green", "teal", "blue", "violet", "magenta", "orange"] as const;
export type Paint = (typeof PAINTS)[number];

/** Colour of a frame or note; undefined for the default and for unknown colours. */
export const paintOf = ({ data: { color } }: Pick<DocNode, "data">): Paint | undefined => PAINTS.find((paint) => paint === color);
