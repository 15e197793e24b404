import type { Graph, GraphNode } from "@nodeloom/kernel/graph";
import { elements, members, withMember } from "@nodeloom/kernel/json-text";
import { withoutSignatures } from "./signatures";

/** Appearance of a node: `view` beside `data`. Absent members have defaults. */
export interface NodeView {
  readonly width?: number;
  readonly media?: number;
  readonly text?: number;
  /** Shows only the head. */
  readonly collapsed?: true;
  /** Runs from the canvas reuse its results. */
  readonly pinned?: true;
}

/** A node; its text is saved, and other members are parsed from it. */
export interface DocNode extends GraphNode {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly view?: NodeView;
}

export interface DocEdge {
  readonly text: string;
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly sourceHandle: string | null;
  readonly targetHandle: string | null;
}

/** An entry of nodes or edges that can't be shown: not an object, without an id, or with a duplicate id. */
export interface Stranger {
  readonly text: string;
  readonly id: string;
  readonly stranger: true;
}

/** The open graph, which is immutable; unchanged elements keep their identity. */
export interface DocGraph {
  readonly nodes: readonly (DocNode | Stranger)[];
  readonly edges: readonly (DocEdge | Stranger)[];
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const numberOr = (value: unknown, otherwise: number): number => (typeof value === "number" && Number.isFinite(value) ? value : otherwise);
const handleOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** JSON text of an object from texts of its members. */
export const objectText = (texts: ReadonlyMap<string, string>): string =>
  `{${[...texts].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;

const SIZES = ["width", "media", "text"] as const;
const FLAGS = ["collapsed", "pinned"] as const;

const viewOf = (value: unknown): NodeView | undefined => {
  if (!isRecord(value)) return undefined;
  const sizes = SIZES.flatMap((name) => (numberOr(value[name], 0) > 0 ? [[name, value[name] as number] as const] : []));
  const flags = FLAGS.flatMap((name) => (value[name] === true ? [[name, true] as const] : []));
  const view: NodeView = Object.fromEntries([...sizes, ...flags]);
  return Object.keys(view).length > 0 ? view : undefined;
};

/** Parses one node, whose file addresses lose their signatures; undefined if it can't be shown. */
export const readNode = (sentText: string): DocNode | undefined => {
  const text = withoutSignatures(sentText);
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.id !== "string" || value.id === "" || typeof value.type !== "string") return undefined;
  const position = isRecord(value.position) ? value.position : {};
  const data = isRecord(value.data) ? value.data : {};
  const node = { text, id: value.id, type: value.type, data, x: numberOr(position.x, 0), y: numberOr(position.y, 0) };
  const view = viewOf(value.view);
  return view ? { ...node, view } : node;
};

export const readEdge = (text: string): DocEdge | undefined => {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.source !== "string" || typeof value.target !== "string") return undefined;
  const id = typeof value.id === "string" ? value.id : "";
  return {
    text,
    id,
    source: value.source,
    target: value.target,
    sourceHandle: handleOf(value.sourceHandle),
    targetHandle: handleOf(value.targetHandle),
  };
};

const unique = <T extends { id: string }>(
  texts: readonly string[],
  readItem: (text: string) => T | undefined,
  needsNames: boolean,
): (T | Stranger)[] => {
  const seenIds = new Set<string>();
  return texts.map((text, index) => {
    const item = readItem(text);
    // An edge without an id can be shown, but a node can't.
    const free = item !== undefined && item.id !== "" && !seenIds.has(item.id);
    if (item !== undefined && free) {
      seenIds.add(item.id);
      return item;
    }
    const id = `\u0000${index}`;
    return item !== undefined && !needsNames ? { ...item, id } : { text, id, stranger: true };
  });
};

export const readDocGraph = (nodes: string, edges: string): DocGraph => ({
  nodes: unique(elements(nodes), readNode, true),
  edges: unique(elements(edges), readEdge, false),
});

export const nodesText = (graph: DocGraph): string => `[${graph.nodes.map(({ text }) => text).join(",")}]`;
export const edgesText = (graph: DocGraph): string => `[${graph.edges.map(({ text }) => text).join(",")}]`;

const isShown = <T extends object>(item: T | Stranger): item is T => !("stranger" in item);
const shownNodes = new WeakMap<DocGraph["nodes"], DocNode[]>();
const shownEdges = new WeakMap<DocGraph["edges"], DocEdge[]>();

/** Nodes that can be shown. */
export const nodesOf = ({ nodes }: DocGraph): readonly DocNode[] => {
  const visible = shownNodes.get(nodes) ?? nodes.filter(isShown<DocNode>);
  shownNodes.set(nodes, visible);
  return visible;
};
export const edgesOf = ({ edges }: DocGraph): readonly DocEdge[] => {
  const visible = shownEdges.get(edges) ?? edges.filter(isShown<DocEdge>);
  shownEdges.set(edges, visible);
  return visible;
};
export const nodeById = (graph: DocGraph, id: string): DocNode | undefined => nodesOf(graph).find((node) => node.id === id);

/** A node and all nodes downstream of it, by id. */
export const followersOf = (graph: DocGraph, from: string): ReadonlySet<string> => {
  const next = new Map<string, string[]>();
  for (const { source, target } of edgesOf(graph)) next.set(source, [...(next.get(source) ?? []), target]);
  const [open, visited] = [[from], new Set([from])];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const target of next.get(at) ?? [])
      if (!visited.has(target)) {
        visited.add(target);
        open.push(target);
      }
  return visited;
};

export const leadsTo = (graph: DocGraph, from: string, to: string): boolean => followersOf(graph, from).has(to);

/** The graph for the kernel's validation and prices. */
export const kernelGraph = (graph: DocGraph): Graph => ({ nodes: [...nodesOf(graph)], edges: [...edgesOf(graph)] });

/** True if both graphs have the same saved text. */
export const sameGraph = (a: DocGraph, b: DocGraph): boolean => a === b || (sameItems(a.nodes, b.nodes) && sameItems(a.edges, b.edges));

const sameItems = (a: readonly { text: string }[], b: readonly { text: string }[]): boolean =>
  a === b || (a.length === b.length && a.every((item, index) => item === b[index] || item.text === b[index]?.text));

export const newNodeText = (id: string, type: string, at: { x: number; y: number }, data: object): string =>
  JSON.stringify({ id, type, position: { x: at.x, y: at.y }, data });

export const newEdgeText = (edge: Omit<DocEdge, "text">): string => {
  const { id, source, target, sourceHandle, targetHandle } = edge;
  return JSON.stringify({ id, source, target, sourceHandle, targetHandle });
};

/** A copy of a node with one member replaced. */
export const withNodeMember = (node: DocNode, path: readonly string[], value: unknown): DocNode => {
  const json = value === undefined ? undefined : JSON.stringify(value);
  return readNode(withMember(node.text, path, json)) ?? node;
};

/** A copy of an edge with new ends and the same other members. */
export const withEdgeEnds = (edge: DocEdge, ends: Partial<Omit<DocEdge, "text" | "id">>): DocEdge => {
  let { text } = edge;
  for (const [name, value] of Object.entries(ends)) text = withMember(text, [name], JSON.stringify(value));
  return { ...(readEdge(text) ?? edge), id: edge.id };
};

export { members };
