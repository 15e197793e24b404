import { kindOf } from "../kinds";
import type { GraphNode } from "../types";
import type { NodePlan, NodeSource } from "./plan-types";
import type { Planner } from "./planner";

/** Which nodes are skipped behind a switch, and which may be, as far as planning knows. */

/**
 * Takes away the edges into a node that carry nothing.
 * @returns false when the node is skipped: nothing reaches a port that is connected. A node that makes the result goes without that port.
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

/** Whether only the run knows if a node is skipped: all that flows into one of its ports is behind a switch that the run decides. */
const isConditional = (planner: Planner, { id }: GraphNode): boolean =>
  [...(planner.wiring.inputs.get(id)?.values() ?? [])].some((edges) => edges.every((edge) => planner.mayBeEmpty.has(edge.node)));

/** Notes what a planned node means for those behind it. @returns its plan, which says whether the run may skip it */
export const noteBranches = (planner: Planner, node: GraphNode, planned: NodePlan): NodePlan => {
  if (planned.emptyPorts) planner.emptyPorts.set(node.id, new Set(planned.emptyPorts));
  const conditional = isConditional(planner, node);
  if (conditional || planned.isUndecided) planner.mayBeEmpty.add(node.id);
  return conditional && planned.step ? { ...planned, step: { ...planned.step, conditional } } : planned;
};
