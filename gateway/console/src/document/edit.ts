import {
  edgesOf,
  newEdgeText,
  newNodeText,
  nodesOf,
  readEdge,
  readNode,
  withEdgeEnds,
  withNodeMember,
  type DocEdge,
  type DocGraph,
  type DocNode,
  type NodeView,
} from "./graph";

/** Pure changes of graphs. */
export interface Point {
  x: number;
  y: number;
}
export type Ends = Omit<DocEdge, "id" | "text">;

const mapNodes = (graph: DocGraph, change: (node: DocNode) => DocNode): DocGraph => {
  let changed = false;
  const nodes = graph.nodes.map((node) => {
    if ("stranger" in node) return node;
    const next = change(node);
    changed ||= next !== node;
    return next;
  });
  return changed ? { ...graph, nodes } : graph;
};

const rounded = (value: number): number => Math.round(value);

export const moveNodes = (graph: DocGraph, places: ReadonlyMap<string, Point>): DocGraph =>
  mapNodes(graph, (node) => {
    const place = places.get(node.id);
    if (!place) return node;
    const [x, y] = [rounded(place.x), rounded(place.y)];
    return node.x === x && node.y === y ? node : withNodeMember(withNodeMember(node, ["position", "x"], x), ["position", "y"], y);
  });

/** Sets the size of a node's media; undefined resets it. */
export const setView = (graph: DocGraph, id: string, view: NodeView | undefined): DocGraph =>
  mapNodes(graph, (node) => (node.id === id ? withNodeMember(node, ["view"], view) : node));

/** Sets a member of a node's data; undefined removes it. */
export const setData = (graph: DocGraph, id: string, path: readonly string[], value: unknown): DocGraph =>
  mapNodes(graph, (node) => (node.id === id ? withNodeMember(node, ["data", ...path], value) : node));

/** Renames an output declared by settings, with its links and saved value. */
export const renameField = (graph: DocGraph, id: string, index: number, fields: readonly { name?: unknown }[], to: string): DocGraph => {
  const from = fields[index]?.name;
  const renamedField = setData(
    graph,
    id,
    ["fields"],
    fields.map((field, at) => (at === index ? { ...field, name: to } : field)),
  );
  const isOwn = typeof from === "string" && from !== to && fields.every(({ name }, at) => at === index || name !== from);
  if (!isOwn) return renamedField;
  const moved = edgesOf(renamedField)
    .filter(({ source, sourceHandle }) => source === id && sourceHandle === from)
    .reduce((next, edge) => reconnect(next, edge.id, { sourceHandle: to }), renamedField);
  const values: unknown = nodesOf(moved).find((node) => node.id === id)?.data.values;
  if (typeof values !== "object" || values === null || !Object.hasOwn(values, from)) return moved;
  return setData(setData(moved, id, ["values", to], (values as Record<string, unknown>)[from]), id, ["values", from], undefined);
};

/** A free id: `image`, `image-2`, … */
export const freeId = (graph: DocGraph, wantedId: string, takenIds: ReadonlySet<string> = new Set()): string => {
  const used = new Set(graph.nodes.map(({ id }) => id));
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? wantedId : `${wantedId}-${number}`;
    if (!used.has(id) && !takenIds.has(id)) return id;
  }
};

export interface NewNode {
  id: string;
  type: string;
  at: Point;
  data: object;
}

export const addNode = (graph: DocGraph, { id, type, at, data }: NewNode): DocGraph => {
  const text = newNodeText(id, type, { x: rounded(at.x), y: rounded(at.y) }, data);
  return { ...graph, nodes: [...graph.nodes, readNode(text)!] };
};

export const sameEnds = (a: Ends, b: Ends): boolean =>
  a.source === b.source && a.target === b.target && a.sourceHandle === b.sourceHandle && a.targetHandle === b.targetHandle;

const edgeIdOf = (graph: DocGraph, { source, sourceHandle, target, targetHandle }: Ends): string => {
  const wantedId = `${source}.${sourceHandle ?? ""}-${target}.${targetHandle ?? ""}`;
  const used = new Set(graph.edges.map(({ id }) => id));
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? wantedId : `${wantedId}-${number}`;
    if (!used.has(id)) return id;
  }
};

/** Adds an edge if it doesn't exist, and removes the edges in `replacing`. */
export const connect = (graph: DocGraph, ends: Ends, replacing: readonly string[] = []): DocGraph => {
  const remainingGraph = replacing.length === 0 ? graph : removeItems(graph, [], replacing);
  if (edgesOf(remainingGraph).some((edge) => sameEnds(edge, ends))) return remainingGraph;
  const text = newEdgeText({ id: edgeIdOf(remainingGraph, ends), ...ends });
  return { ...remainingGraph, edges: [...remainingGraph.edges, readEdge(text)!] };
};

export const reconnect = (graph: DocGraph, id: string, ends: Partial<Ends>): DocGraph => ({
  ...graph,
  edges: graph.edges.map((edge) => (!("stranger" in edge) && edge.id === id ? withEdgeEnds(edge, ends) : edge)),
});

export const removeItems = (graph: DocGraph, nodeIds: readonly string[], edgeIds: readonly string[]): DocGraph => {
  const [goneNodes, goneEdges] = [new Set(nodeIds), new Set(edgeIds)];
  const nodes = goneNodes.size === 0 ? graph.nodes : graph.nodes.filter(({ id }) => !goneNodes.has(id));
  const edges = graph.edges.filter(
    (edge) => !goneEdges.has(edge.id) && ("stranger" in edge || (!goneNodes.has(edge.source) && !goneNodes.has(edge.target))),
  );
  return { nodes, edges: edges.length === graph.edges.length ? graph.edges : edges };
};

/** Removes a node. If it has one input edge and one output edge, links their ends. */
export const removeBridging = (graph: DocGraph, nodeId: string, fits: (ends: Ends) => boolean): DocGraph => {
  const edges = edgesOf(graph);
  const [into, outOf] = [edges.filter((edge) => edge.target === nodeId), edges.filter((edge) => edge.source === nodeId)];
  const rest = removeItems(graph, [nodeId], []);
  const [first] = into;
  if (!first || into.length !== 1) return rest;
  return outOf
    .map(({ target, targetHandle }): Ends => ({ source: first.source, sourceHandle: first.sourceHandle, target, targetHandle }))
    .filter(fits)
    .reduce((next, ends) => connect(next, ends), rest);
};

/** Updates the ids of hidden nodes in a copied frame. */
const namesOf = (node: DocNode, names: ReadonlyMap<string, string>): DocNode => {
  const { collapsed } = node.data;
  if (!Array.isArray(collapsed)) return node;
  const ids = collapsed.flatMap((id) => names.get(id as string) ?? []);
  return withNodeMember(node, ["data", "collapsed"], ids);
};

/** Copies nodes and the edges among them under new ids, moved by an offset. */
export const copyInto = (
  graph: DocGraph,
  part: { nodes: readonly DocNode[]; edges: readonly DocEdge[] },
  offset: Point,
): { graph: DocGraph; ids: string[] } => {
  const names = new Map<string, string>();
  for (const { id } of part.nodes) names.set(id, freeId(graph, id.replace(/-\d+$/, "") || id, new Set(names.values())));
  const nodes = part.nodes.map((node) => {
    const renamedNode = withNodeMember(node, ["id"], names.get(node.id));
    const hidden = namesOf(renamedNode, names);
    const moved = withNodeMember(hidden, ["position", "x"], rounded(node.x + offset.x));
    return withNodeMember(moved, ["position", "y"], rounded(node.y + offset.y));
  });
  const withNodes: DocGraph = { ...graph, nodes: [...graph.nodes, ...nodes] };
  const ends = part.edges.flatMap((edge): Ends[] => {
    const [source, target] = [names.get(edge.source), names.get(edge.target)];
    return source !== undefined && target !== undefined
      ? [{ source, target, sourceHandle: edge.sourceHandle, targetHandle: edge.targetHandle }]
      : [];
  });
  return { graph: ends.reduce((next, one) => connect(next, one), withNodes), ids: nodes.map(({ id }) => id) };
};

/** Selected nodes and the edges among them. */
export const partOf = (graph: DocGraph, ids: ReadonlySet<string>): { nodes: DocNode[]; edges: DocEdge[] } => ({
  nodes: nodesOf(graph).filter(({ id }) => ids.has(id)),
  edges: edgesOf(graph).filter(({ source, target }) => ids.has(source) && ids.has(target)),
});
