import { makesResult } from "@nodeloom/kernel/graph";
import { isRemark, kindOf } from "../../canvas/kinds";
import { END_TYPES } from "../../canvas/kinds/roles";
import type { PortBook } from "../../canvas/ports";
import { freeId, type Point } from "../../document/edit";
import {
  edgesOf,
  edgesText,
  followersOf,
  newEdgeText,
  newNodeText,
  nodesOf,
  nodesText,
  readEdge,
  readNode,
  withEdgeEnds,
  type DocEdge,
  type DocGraph,
  type DocNode,
} from "../../document/graph";
import { innerOf } from "../inspector/inner/ports";
import { nodeTitle } from "../titles";
import { endsOf, fieldsInto, keyOf, membersOutOf, type Member } from "./border";
import { EXTRACT } from "../../messages/editor/subgraph";

/** Kind of workflow nodes. */
const PART_TYPE = "workflow";

export interface Extraction {
  /** Graph of the new workflow, as texts. */
  inner: { nodes: string; edges: string };
  /** Replaces the part by one node; returns the graph and that node's id. */
  outer(slug: string, name: string): { graph: DocGraph; id: string };
}

type Crossing = "inside" | "into" | "out" | "beside";
const crossing = ({ source, target }: DocEdge, part: ReadonlySet<string>): Crossing => {
  if (part.has(source)) return part.has(target) ? "inside" : "out";
  return part.has(target) ? "into" : "beside";
};

/** A node outside a part on a path that leaves and re-enters it. */
const between = (graph: DocGraph, part: ReadonlySet<string>): DocNode | undefined => {
  const behind = new Set([...part].flatMap((id) => [...followersOf(graph, id)]));
  return nodesOf(graph).find(({ id }) => !part.has(id) && behind.has(id) && [...followersOf(graph, id)].some((one) => part.has(one)));
};

/** Gap to the next node. */
const GAP = 110;
const WIDTH = 248;

const placesAround = (nodes: readonly DocNode[]): { before: Point; after: Point } => {
  const [left, right, top] = [
    Math.min(...nodes.map(({ x }) => x)),
    Math.max(...nodes.map(({ x }) => x)),
    Math.min(...nodes.map(({ y }) => y)),
  ];
  return { before: { x: left - WIDTH - GAP, y: top }, after: { x: right + WIDTH + GAP, y: top } };
};

/** Selected nodes that can move into another workflow; inputs and results stay. */
const movable = (nodes: readonly DocNode[]): DocNode[] => nodes.filter(({ type }) => type !== END_TYPES.inputs && !makesResult(type));

/** A part with its fields and members, by the outputs of links (see `keyOf`). */
interface Cut {
  graph: DocGraph;
  moved: readonly DocNode[];
  part: ReadonlySet<string>;
  ports: PortBook;
  fields: ReadonlyMap<string, Record<string, unknown>>;
  members: ReadonlyMap<string, Member>;
}

const sourceKey = (edge: DocEdge, ports: PortBook): string => keyOf(edge.source, endsOf(edge, ports).sourceHandle);
const fieldOf = ({ fields, ports }: Cut, edge: DocEdge): string => String(fields.get(sourceKey(edge, ports))!.name);

/** Graph of the new workflow: inputs, part, results. */
const innerGraph = (cut: Cut): DocGraph => {
  const { graph, moved, part, ports, fields, members } = cut;
  const [inputs, results] = [freeId(graph, kindOf(END_TYPES.inputs).id), freeId(graph, kindOf(END_TYPES.results).id)];
  const { before, after } = placesAround(moved);
  const border = [
    ...(fields.size === 0 ? [] : [newNodeText(inputs, END_TYPES.inputs, before, { fields: [...fields.values()] })]),
    ...(members.size === 0 ? [] : [newNodeText(results, END_TYPES.results, after, {})]),
  ];
  const keptEdges = edgesOf(graph).flatMap((edge): DocEdge[] => {
    const how = crossing(edge, part);
    if (how === "inside") return [edge];
    const { targetHandle } = endsOf(edge, ports);
    return how === "into" ? [withEdgeEnds(edge, { source: inputs, sourceHandle: fieldOf(cut, edge), targetHandle })] : [];
  });
  const resultEdges = [...members.values()].map(({ source, port, name }) => {
    const ends = { source, sourceHandle: port, target: results, targetHandle: name };
    return readEdge(newEdgeText({ id: `${source}.${port}-${results}.${name}`, ...ends }))!;
  });
  return { nodes: [...moved, ...border.map((text) => readNode(text)!)], edges: [...keptEdges, ...resultEdges] };
};

/** Remaining links in order. Links of the part connect to the new node. */
const outerEdges = (cut: Cut, id: string): DocGraph["edges"] => {
  const { graph, part, ports, members } = cut;
  const linked = new Set<string>();
  return graph.edges.flatMap((edge): DocGraph["edges"] => {
    const how = "stranger" in edge ? "beside" : crossing(edge, part);
    if ("stranger" in edge || how === "beside") return [edge];
    if (how === "inside") return [];
    const key = sourceKey(edge, ports);
    if (how === "out") return [withEdgeEnds(edge, { source: id, sourceHandle: members.get(key)!.name })];
    // Each output has one field, however many targets it has.
    if (linked.has(key)) return [];
    linked.add(key);
    return [withEdgeEnds(edge, { sourceHandle: endsOf(edge, ports).sourceHandle, target: id, targetHandle: fieldOf(cut, edge) })];
  });
};

const mean = (values: readonly number[]): number => Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);

/** Turns the selected nodes into a workflow. @returns the graphs, or the problem */
export const extract = (graph: DocGraph, chosenNodes: readonly DocNode[], ports: PortBook): Extraction | { problem: string } => {
  const moved = movable(chosenNodes);
  if (!moved.some(({ type }) => !isRemark(type))) return { problem: EXTRACT.selectNodes };
  const part = new Set(moved.map(({ id }) => id));
  const way = between(graph, part);
  if (way) return { problem: EXTRACT.nodeBetween(nodeTitle(way)) };
  const into = edgesOf(graph).filter((edge) => crossing(edge, part) === "into");
  const cut = { graph, moved, part, ports, fields: fieldsInto(graph, into, ports), members: membersOutOf(graph, part, ports) };
  const within = innerGraph(cut);
  const inner = { nodes: nodesText(within), edges: edgesText(within) };
  return {
    inner,
    outer: (slug, name) => {
      const id = freeId(graph, kindOf(PART_TYPE).id);
      const nodes = JSON.parse(inner.nodes) as unknown[];
      const { ports: innerPorts } = innerOf({ name, nodes, edges: JSON.parse(inner.edges) as unknown[] });
      const at = { x: mean(moved.map(({ x }) => x)), y: mean(moved.map(({ y }) => y)) };
      const stands = readNode(newNodeText(id, PART_TYPE, at, { slug, label: name, ports: innerPorts }))!;
      return { graph: { nodes: [...graph.nodes.filter((node) => !part.has(node.id)), stands], edges: outerEdges(cut, id) }, id };
    },
  };
};
