import type { DocNode } from "../../../document/graph";

/** Colours of frames and notes: `data.color`. Each has a look in both themes, in canvas.css. */
export const PAINTS = ["grey", "yellow", "green", "teal", "blue", "violet", "magenta", "orange"] as const;
export type Paint = (typeof PAINTS)[number];

/** The colour of a frame or note; undefined for its usual one, and for colours of other editors. */
export const paintOf = ({ data: { color } }: Pick<DocNode, "data">): Paint | undefined => PAINTS.find((paint) => paint === color);
