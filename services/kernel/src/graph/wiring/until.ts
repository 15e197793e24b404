import { groupBy } from "../../group-by";
import { kindOf } from "../kinds";
import type { Graph, GraphIssue } from "../types";

/** The part of a graph that one of its nodes needs. */

/**
 * A node with everything that leads to it, and the edges between; what stands beside or behind it is left out, with its
 * problems. Edges into the part keep their place, whatever they come from.
 * @returns undefined when the graph has no such node, or one that never runs
 */
export const upToNode = <G extends Graph & { issues: readonly GraphIssue[] }>(
  { nodes, edges, issues }: G,
  nodeId: string,
): (Graph & { issues: GraphIssue[] }) | undefined => {
  if (!nodes.some(({ id, type }) => id === nodeId && kindOf(type)?.runs !== false)) return undefined;
  const into = groupBy(edges, ({ target }) => target);
  const needed = new Set<string>();
  const open = [nodeId];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    open.push(...(into.get(id) ?? []).map(({ source }) => source));
  }
  return {
    nodes: nodes.filter(({ id }) => needed.has(id)),
    edges: edges.filter(({ target }) => needed.has(target)),
    issues: issues.filter((issue) => issue.nodeId !== null && needed.has(issue.nodeId)),
  };
};
