import type { NodeState } from "@nodeloom/client";
import { kindOf } from "../canvas/kinds";

/** Name of a run's node: the author's label, or else the kind. */
export const nameOfNode = ({ label, type }: Pick<NodeState, "label" | "type">): string => label ?? kindOf(type).title;
