import { labelOf } from "@nodeloom/kernel/graph";
import { kindOf } from "../../canvas/kinds";
import type { DocNode } from "../../document/graph";

/** A node as people call it: its label, else its kind. */
export const nodeTitle = (node: Pick<DocNode, "type" | "data">): string => labelOf(node) ?? kindOf(node.type).title;
