import { LIMITS } from "../../limits";
import { GRAPH_BOUNDS, textBytes } from "../bounds";
import { distinct, finding, findingInWords, type Finding } from "../../issues";
import { innerId, type Graph, type GraphEdge, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { beginAt } from "../wiring/ends";
import {
  choices,
  endsOf,
  flowProblems,
  flowsOf,
  innerEdges,
  innerNodes,
  inputFieldsOf,
  literalsOf,
  memberEdges,
  type InlineGraph,
} from "./inner";
import { referenceOf } from "./references";
import { inlineTurns, nodesOfTurns } from "./turns";

export { resultMembers, type InlineGraph } from "./inner";

/** Replaces workflow nodes and loops with the nodes of the workflows they name, so that planning sees a single graph. */

/**
 * Returns the workflow that a node names.
 * @param within key of the workflow that contains the node
 */
export type Resolve = (within: string, nodeId: string) => { key: string; graph: InlineGraph } | undefined;

const inlineOne = (outer: InlineGraph, node: GraphNode, inner: InlineGraph): InlineGraph => {
  const fields = inputFieldsOf(inner);
  const flows = flowsOf(outer, node, fields);
  const { values, problems, otherwise } = literalsOf(node, fields, flows);
  const ends = endsOf(node.id, inner, flows, otherwise);
  const members = memberEdges(inner);
  const issues: Finding[] = [...flowProblems(outer, inner, node, flows), ...problems];
  const outerEdges = outer.edges.flatMap((edge): GraphEdge[] => {
    if (edge.target === node.id) return [];
    if (edge.source !== node.id) return [edge];
    const name = edge.sourceHandle ?? [...members.keys()][0] ?? "";
    const into = members.get(name);
    if (!into)
      issues.push(
        finding("UNKNOWN_OUTPUT", { node: node.id, name: shownName(name), edge: shownName(edge.id), choices: choices(members.keys()) }),
      );
    return beginAt(
      edge,
      (into ?? []).flatMap((one) => beginAt(one, ends(one))),
    );
  });
  return {
    nodes: outer.nodes.flatMap((one) => (one === node ? innerNodes(node.id, inner, values) : [one])),
    edges: [...outerEdges, ...innerEdges(node.id, inner, ends)],
    issues: [
      ...outer.issues,
      ...distinct(issues).map((nodeFinding) => ({ nodeId: node.id, ...nodeFinding })),
      ...inner.issues.map((issue) => ({ ...issue, nodeId: issue.nodeId === null ? node.id : innerId(node.id, issue.nodeId) })),
    ],
  };
};

/** The problem of a graph that is too large after expansion, or undefined. */
const sizeProblem = ({ nodes, edges }: Graph): string | undefined => {
  if (nodes.length > LIMITS.nodes) return `with the nodes of this workflow the graph has more than ${LIMITS.nodes} nodes`;
  if (edges.length > LIMITS.edges) return `with the edges of this workflow the graph has more than ${LIMITS.edges} edges`;
  const long = nodes.find(({ id }) => textBytes(id) > GRAPH_BOUNDS.nodeIdBytes);
  return long && `the id of the node ${shownName(long.id)} is longer than ${GRAPH_BOUNDS.nodeIdBytes} bytes`;
};

/** Marks the nodes of a workflow with its slug. Nodes of the workflows in it keep theirs. */
const containedIn = (slug: string, graph: InlineGraph): InlineGraph => ({
  ...graph,
  nodes: graph.nodes.map((node) => ({ innerWorkflow: slug, ...node })),
});

const TOO_MANY_TURNS = `with the nodes of all turns the graph has more than ${LIMITS.nodes} nodes: lower count, or shorten the workflow`;

/**
 * Expands the workflow nodes of a graph, to any depth.
 * @param resolve returns undefined for nodes that stay unexpanded
 * @param key key of the graph itself
 */
export const inlineWorkflows = (
  graph: InlineGraph,
  resolve: Resolve,
  key: string,
  expandedGraphs = new Map<string, InlineGraph>(),
): InlineGraph => {
  let whole = graph;
  for (const node of graph.nodes) {
    const reference = referenceOf(node);
    const inner = reference && resolve(key, node.id);
    if (!inner) continue;
    const expanded =
      expandedGraphs.get(inner.key) ?? containedIn(reference.slug, inlineWorkflows(inner.graph, resolve, inner.key, expandedGraphs));
    expandedGraphs.set(inner.key, expanded);
    const own = whole.nodes.find(({ id }) => id === node.id)!;
    const isLoop = reference.isLoop === true;
    const isTooLarge = isLoop && whole.nodes.length + nodesOfTurns(own, expanded) > LIMITS.nodes;
    const replaced = isTooLarge ? undefined : isLoop ? inlineTurns(whole, own, expanded) : inlineOne(whole, own, expanded);
    whole = replaced ?? whole;
    const problem = isTooLarge ? TOO_MANY_TURNS : sizeProblem(whole);
    if (problem === undefined) continue;
    // An oversized graph stays unexpanded.
    return {
      nodes: graph.nodes,
      edges: graph.edges,
      issues: [...graph.issues, { nodeId: node.id, ...findingInWords("LIMIT_EXCEEDED", problem) }],
    };
  }
  return whole;
};
