import { groupBy } from "../../group-by";
import { kindOf } from "../kinds";
import type { GraphIssue } from "../../issues";
import type { Graph } from "../types";
import { isBypassed, withoutBypassed } from "./bypass";

/** Selects the part of a graph that one of its nodes depends on. */

/**
 * Returns a node with all nodes it depends on. Other nodes and their issues are dropped. Edges into the part keep their order. Bypassed
 * nodes stay; they depend only on the inputs that they pass on.
 * @returns undefined if the graph has no such node, or if the node never runs
 */
export const upToNode = <G extends Graph & { issues: readonly GraphIssue[] }>(
  whole: G,
  nodeId: string,
): (Graph & { issues: GraphIssue[] }) | undefined => {
  const { nodes, edges, issues } = whole;
  const active = withoutBypassed(whole).graph;
  if (!active.nodes.some(({ id, type }) => id === nodeId && kindOf(type)?.runs !== false)) return undefined;
  const into = groupBy(active.edges, ({ target }) => target);
  const gates = new Map(active.nodes.map((node) => [node.id, node.gate]));
  const needed = new Set<string>();
  const open = [nodeId];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    const gate = gates.get(id);
    open.push(...(into.get(id) ?? []).map(({ source }) => source), ...(gate === undefined ? [] : [gate]));
  }
  const off = new Set(nodes.filter(isBypassed).map(({ id }) => id));
  const isIn = (id: string): boolean => needed.has(id) || off.has(id);
  return {
    nodes: nodes.filter(({ id }) => isIn(id)),
    edges: edges.filter(({ target }) => isIn(target)),
    issues: issues.filter((issue) => issue.nodeId !== null && needed.has(issue.nodeId)),
  };
};
