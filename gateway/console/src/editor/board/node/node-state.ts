import { isBypassed } from "@nodeloom/kernel/graph";
import { isRemark } from "../../../canvas/kinds";
import type { DocNode } from "../../../document/graph";

/** True if the author bypassed the node, so that its input passes through. */
export const isBypassedNode = (node: DocNode): boolean => isBypassed(node) && !isRemark(node.type);

export const commentOf = ({ data: { comment } }: DocNode): string | undefined =>
  typeof comment === "string" && comment.trim() !== "" ? comment : undefined;
