import type { Bounds } from "./abstract";
import { collect } from "../values/bind";
import type { NodeKind } from "../kinds/kind";
import { attempt, type Planner } from "./planner";
import { buildStep, knownItems, stepItems, warnUnresolved, type ItemBounds, type KnownItems } from "./plan-step";
import { NOTHING_PLANNED, type NodePlan, type PlanStep } from "./plan-types";
import type { GraphNode } from "../types";

/** Output ports that can have the node's value: one, or several if the choice depends on unknown values. */
const routed = (planner: Planner, kind: NodeKind, node: GraphNode, { literals }: PlanStep, { items, unknown }: KnownItems) => {
  const ports = [...kind.outputs(node).keys()];
  if (!kind.route) return { carrying: ports.slice(0, 1) };
  if (kind.route.ports(literals).some((port) => unknown.has(port))) return { carrying: ports, isUndecided: true };
  const takenPort = kind.route.port(literals, items[0] ?? {}, planner.budget);
  return { carrying: [takenPort], emptyPorts: ports.filter((port) => port !== takenPort) };
};

/** Bounds of an output with one value per item. */
const onePerItem = ({ items, limit, mapped, tokens }: ItemBounds): Bounds => ({ list: mapped, items, most: limit, tokens });

/**
 * Plans a node without calls. It is evaluated immediately if its values are known.
 * @param outputBounds bounds of its output if it can't be evaluated; the run's hold depends on them
 */
export const planPure = (
  planner: Planner,
  kind: NodeKind,
  node: GraphNode,
  outputBounds: (bounds: ItemBounds) => Bounds = onePerItem,
): NodePlan => {
  const step = buildStep(planner, kind, node);
  warnUnresolved(planner, step);
  const bound = knownItems(planner, node, step);
  if (bound.failed && bound.complete) return NOTHING_PLANNED;
  const bounds = stepItems(planner, node, step, bound);
  const ports = attempt(planner, node.id, () => routed(planner, kind, node, step, bound));
  if (!ports) return NOTHING_PLANNED;
  const { carrying, ...branches } = ports;
  if (!bound.complete) {
    const portBounds = outputBounds(bounds);
    return {
      step: { ...step, maxItems: bounds.items, itemLimit: bounds.limit },
      outputs: new Map(carrying.map((port) => [port, portBounds])),
      ...branches,
    };
  }
  const portValue = attempt(planner, node.id, () => ({
    value: collect(
      bound.items.map((item) => kind.evaluate!(step.literals, item, planner.budget)),
      bound.mapped,
    ),
  }));
  return portValue ? { isEvaluated: true, outputs: new Map([[carrying[0]!, portValue]]), ...branches } : NOTHING_PLANNED;
};
