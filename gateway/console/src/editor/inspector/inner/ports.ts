import type { Workflow } from "@nodeloom/client";
import {
  inputFields,
  kindOf,
  outputPorts,
  readGraph,
  requestInputs,
  resultFamily,
  resultMembers,
  type GraphNode,
  type InputField,
} from "@nodeloom/kernel/graph";

/** What a workflow is as a node: its fields and the members of its result, as the node keeps them for the canvas. */

export interface InnerPorts {
  inputs: { name: string; type: string }[];
  outputs: { name: string; type: string }[];
}

export interface InnerWorkflow {
  name: string;
  fields: InputField[];
  ports: InnerPorts;
}

/** The workflow that a node stands for; undefined for every other node, and where none was chosen. */
export const innerSlug = ({ type, data: { slug } }: Pick<GraphNode, "type" | "data">): string | undefined =>
  kindOf(type)?.isReplaced === true && typeof slug === "string" && slug !== "" ? slug : undefined;

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
