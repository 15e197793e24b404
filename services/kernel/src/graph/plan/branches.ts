import { kindOf } from "../kinds";
import type { GraphNode } from "../types";
import type { NodePlan, NodeSource } from "./plan-types";
import type { Planner } from "./planner";

/** Decides which nodes after a switch are skipped, and which could be. */

/**
 * Removes edges that have no value.
 * @returns false if the node is skipped because one of its connected ports gets no value. A result node runs without that port.
 */
export const keepLivingEdges = (planner: Planner, node: GraphNode): boolean => {
  const wired = planner.wiring.inputs.get(node.id);
  if (!wired || planner.emptyPorts.size === 0) return true;
  const isLiving = (edge: NodeSource): boolean => !planner.skipped.has(edge.node) && !planner.emptyPorts.get(edge.node)?.has(edge.port);
  for (const [port, edges] of wired) {
    const living = edges.filter(isLiving);
    if (living.length > 0) wired.set(port, living);
    else if (kindOf(node.type)?.isResult) wired.delete(port);
    else {
      planner.skipped.add(node.id);
      return false;
    }
  }
  return true;
};

/** True if only the run decides whether the node is skipped: all edges of one port come from an undecided switch. */
const isConditional = (planner: Planner, { id }: GraphNode): boolean =>
  [...(planner.wiring.inputs.get(id)?.values() ?? [])].some((edges) => edges.every((edge) => planner.mayBeEmpty.has(edge.node)));

/** Records how a planned node affects the nodes after it. @returns its plan, marked as conditional if the run may skip the node */
export const noteBranches = (planner: Planner, node: GraphNode, planned: NodePlan): NodePlan => {
  if (planned.emptyPorts) planner.emptyPorts.set(node.id, new Set(planned.emptyPorts));
  const conditional = isConditional(planner, node);
  if (conditional || planned.isUndecided) planner.mayBeEmpty.add(node.id);
  return conditional && planned.step ? { ...planned, step: { ...planned.step, conditional } } : planned;
};
