import { allowsMissing, GOES_ON_PORT } from "../kinds";
import { loopOf, turnId, type GraphNode } from "../types";
import type { NodePlan, NodeSource } from "./plan-types";
import type { Planner, WiredEnd } from "./planner";

/** Decides which nodes after a switch are skipped, and which could be. */

/**
 * Removes edges that have no value.
 * @returns false if the node is skipped because one of its connected ports gets no value, or because its loop ends before its turn. A
 *   result node runs without that port.
 */
export const keepLivingEdges = (planner: Planner, node: GraphNode): boolean => {
  if (planner.emptyPorts.size === 0) return true;
  const isLiving = (edge: NodeSource): boolean => !planner.skipped.has(edge.node) && !planner.emptyPorts.get(edge.node)?.has(edge.port);
  if (node.gate !== undefined && !isLiving({ node: node.gate, port: GOES_ON_PORT })) {
    planner.skipped.add(node.id);
    return false;
  }
  const wired = planner.wiring.inputs.get(node.id);
  if (!wired) return true;
  for (const [port, edges] of wired) {
    const living = edges.filter(isLiving);
    if (living.length > 0) wired.set(port, living);
    else if (allowsMissing(node.type, { turn: node.turn?.number })) wired.delete(port);
    else {
      planner.skipped.add(node.id);
      return false;
    }
  }
  return true;
};

/** One turn of a loop that runs always has the loop's result. */
const mayBeEmpty = (planner: Planner, { node, isOneOf }: WiredEnd): boolean =>
  isOneOf ? planner.conditional.has(turnId(loopOf(node), 1)) : planner.mayBeEmpty.has(node);

/** True if only the run decides whether the node is skipped: all edges of one port come from an undecided switch or loop. */
const isConditional = (planner: Planner, { id, gate }: GraphNode): boolean =>
  (gate !== undefined && planner.mayBeEmpty.has(gate)) ||
  [...(planner.wiring.inputs.get(id)?.values() ?? [])].some((edges) => edges.every((edge) => mayBeEmpty(planner, edge)));

/** Records how a planned node affects the nodes after it. @returns its plan, marked as conditional if the run may skip the node */
export const noteBranches = (planner: Planner, node: GraphNode, planned: NodePlan): NodePlan => {
  if (planned.emptyPorts) planner.emptyPorts.set(node.id, new Set(planned.emptyPorts));
  const conditional = isConditional(planner, node);
  if (conditional) planner.conditional.add(node.id);
  if (conditional || planned.isUndecided) planner.mayBeEmpty.add(node.id);
  const { step } = planned;
  if (!step) return planned;
  planner.running.add(node.id);
  const { gate } = node;
  return { ...planned, step: { ...step, ...(conditional ? { conditional } : {}), ...(gate === undefined ? {} : { gate }) } };
};
