import type { NodeState } from "@nodeloom/client";
import { kindOf } from "../canvas/kinds";

/** A node of a run as people call it: its author's name for it, else its kind. */
export const nameOfNode = ({ label, type }: Pick<NodeState, "label" | "type">): string => label ?? kindOf(type).title;
