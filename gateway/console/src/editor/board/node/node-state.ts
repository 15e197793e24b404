import { isBypassed } from "@nodeloom/kernel/graph";
import { isRemark } from "../../../canvas/kinds";
import type { DocNode } from "../../../document/graph";

/** Whether its author switched a node off: it hands on what flows into it. */
export const isBypassedNode = (node: DocNode): boolean => isBypassed(node) && !isRemark(node.type);

/** What its author says of a node. */
export const commentOf = ({ data: { comment } }: DocNode): string | undefined =>
  typeof comment === "string" && comment.trim() !== "" ? comment : undefined;
