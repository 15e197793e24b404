import { callsTransform } from "@nodeloom/kernel/graph";
import type { DocNode } from "../../document/graph";

/** Operations whose settings can be set on the picture. */
const OPERATIONS = ["image-crop", "image-resize", "image-composite", "image-text", "mask-draw"] as const;
export type Touched = (typeof OPERATIONS)[number];

/** Operation of a node that is edited on its picture; undefined for others. */
export const touchedBy = ({ type, data }: DocNode): Touched | undefined =>
  callsTransform(type) ? OPERATIONS.find((name) => name === data.operation) : undefined;
