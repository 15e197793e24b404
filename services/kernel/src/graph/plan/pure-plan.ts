import type { Bounds } from "./abstract";
import { collect } from "../values/bind";
import type { NodeKind } from "../kinds/kind";
import { attempt, type Planner } from "./planner";
import { buildStep, knownItems, stepItems, warnUnresolved, type ItemBounds } from "./plan-step";
import { NOTHING_PLANNED, type NodePlan } from "./plan-types";
import type { GraphNode } from "../types";

/**
 * Plans a node that only makes a value of values: evaluated now when they are known.
 * @param outputBounds what is known of its output otherwise
 */
export const planPure = (planner: Planner, kind: NodeKind, node: GraphNode, outputBounds: (bounds: ItemBounds) => Bounds): NodePlan => {
  const step = buildStep(planner, kind, node);
  warnUnresolved(planner, step);
  const port = [...kind.outputs(node).keys()][0]!;
  const bound = knownItems(planner, step);
  if (bound.failed && bound.complete) return NOTHING_PLANNED;
  const bounds = stepItems(planner, node, step, bound);
  if (!bound.complete)
    return { step: { ...step, maxItems: bounds.items, itemLimit: bounds.limit }, outputs: new Map([[port, outputBounds(bounds)]]) };
  const made = attempt(planner, node.id, () => ({
    value: collect(
      bound.items.map((item) => kind.evaluate!(step.literals, item, planner.budget)),
      bound.mapped,
    ),
  }));
  return made ? { isEvaluated: true, outputs: new Map([[port, made]]) } : NOTHING_PLANNED;
};
