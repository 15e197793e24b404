import { moveNodes } from "../document/edit";
import { edgesOf, nodesOf, type DocGraph } from "../document/graph";
import { NODE } from "./geometry";
import { isRemark } from "./kinds";
import type { LayoutReply, LayoutRequest } from "./layout.worker";

/** About the height of a node with what it made; ports of models aren't known yet. */
const ROOM = 320;

/** Graphs written by programs have all their nodes in one place. */
const areStacked = (graph: DocGraph): boolean => {
  const [first, ...others] = nodesOf(graph).filter(({ type }) => !isRemark(type));
  return first !== undefined && others.length > 0 && others.every(({ x, y }) => x === first.x && y === first.y);
};

/** Lays out a graph whose nodes have no places of their own. Without an answer it stays as it is. */
export const withPlaces = async (graph: DocGraph, layOut: (request: LayoutRequest) => Promise<LayoutReply>): Promise<DocGraph> => {
  if (!areStacked(graph)) return graph;
  const nodes = nodesOf(graph).filter(({ type }) => !isRemark(type));
  const ids = new Set(nodes.map(({ id }) => id));
  const edges = edgesOf(graph).filter(({ source, target }) => ids.has(source) && ids.has(target));
  try {
    const places = await layOut({
      nodes: nodes.map(({ id }) => ({ id, width: NODE.width, height: ROOM })),
      edges: edges.map(({ source, target }) => ({ source, target })),
    });
    return moveNodes(graph, new Map(places.map(({ id, x, y }) => [id, { x, y }])));
  } catch {
    return graph;
  }
};
