import { kindOf, readGraph } from "@nodeloom/kernel/graph";
import type { ResultPart } from "./whole";

/**
 * Members of a workflow's result.
 * @param nodes nodes in the API's form
 * @param edges edges in the API's form
 */
export const resultParts = (nodes: unknown, edges: unknown): ResultPart[] => {
  const graph = readGraph(JSON.stringify(nodes), JSON.stringify(edges));
  const results = new Set(graph.nodes.filter(({ type }) => kindOf(type)?.isResult === true).map(({ id }) => id));
  return graph.edges
    .filter(({ target }) => results.has(target))
    .map(({ source, sourceHandle, targetHandle }) => ({ member: targetHandle ?? "result", node: source, port: sourceHandle }));
};
