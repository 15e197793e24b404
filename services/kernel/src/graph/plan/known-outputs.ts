import type { GraphNode } from "../types";
import type { NodePlan } from "./plan-types";
import type { Planner } from "./planner";

/** The plan of a node with preset outputs; undefined for other nodes. */
export const knownPlan = ({ request, outputs }: Planner, { id }: GraphNode): NodePlan | undefined => {
  const reusedPorts = request.knownOutputs?.get(id);
  if (!reusedPorts) return undefined;
  const portValues = new Map([...reusedPorts].map(([port, value]) => [port, { value }]));
  outputs.set(id, portValues);
  return { isEvaluated: true, outputs: portValues };
};
