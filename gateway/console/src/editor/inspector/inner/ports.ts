import type { Workflow } from "@nodeloom/client";
import {
  inputFields,
  kindOf,
  makesTurns,
  outputPorts,
  readGraph,
  requestInputs,
  resultFamily,
  resultMembers,
  TURNS_PORT,
  type GraphNode,
  type InputField,
} from "@nodeloom/kernel/graph";

/** Fields and result members of a workflow, stored in its node for the canvas. */

export interface InnerPorts {
  inputs: { name: string; type: string }[];
  outputs: { name: string; type: string }[];
}

export interface InnerWorkflow {
  name: string;
  fields: InputField[];
  ports: InnerPorts;
}

/** Slug of a workflow node's workflow; undefined for other nodes, and before a workflow is chosen. */
export const innerSlug = ({ type, data: { slug } }: Pick<GraphNode, "type" | "data">): string | undefined =>
  kindOf(type)?.isReplaced === true && typeof slug === "string" && slug !== "" ? slug : undefined;

/** Ports of a node that runs a workflow. A loop also has the number of its turns. */
export const portsOf = (type: string, { ports }: Pick<InnerWorkflow, "ports">): InnerPorts =>
  makesTurns(type) && !ports.outputs.some(({ name }) => name === TURNS_PORT)
    ? { ...ports, outputs: [...ports.outputs, { name: TURNS_PORT, type: "number" }] }
    : ports;

export const innerOf = ({ name, nodes, edges }: Pick<Workflow, "name" | "nodes" | "edges">): InnerWorkflow => {
  const graph = readGraph(JSON.stringify(nodes), JSON.stringify(edges));
  const inputs = requestInputs(graph).flatMap((node) => [...outputPorts(node)]);
  const members = graph.nodes.some(({ type }) => kindOf(type)?.isResult) ? resultMembers(graph) : [];
  const typeOf = (member: string): string => (member === "text" ? "text" : (resultFamily(member) ?? "any"));
  return {
    name,
    fields: inputFields(graph),
    ports: {
      inputs: inputs.map(([port, type]) => ({ name: port, type })),
      outputs: members.map((member) => ({ name: member, type: typeOf(member) })),
    },
  };
};
