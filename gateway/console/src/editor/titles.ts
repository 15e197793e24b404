import { labelOf } from "@nodeloom/kernel/graph";
import { frameOf } from "../canvas/frames";
import { noteText } from "../canvas/geometry";
import { kindOf } from "../canvas/kinds";
import type { DocNode } from "../document/graph";

export const nodeTitle = (node: Pick<DocNode, "type" | "data">): string =>
  labelOf(node) ?? (frameOf({ id: "", ...node }) ? noteText(node) || "Frame" : kindOf(node.type).title);
