import type { GraphNode } from "../types";
import type { NodePlan } from "./plan-types";
import type { Planner } from "./planner";

/** The plan of a node with preset outputs; undefined for other nodes. */
export const givenPlan = ({ request, outputs }: Planner, { id }: GraphNode): NodePlan | undefined => {
  const given = request.given?.get(id);
  if (!given) return undefined;
  const known = new Map([...given].map(([port, value]) => [port, { value }]));
  outputs.set(id, known);
  return { isEvaluated: true, outputs: known };
};
