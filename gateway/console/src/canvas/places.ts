import { moveNodes } from "../document/edit";
import { edgesOf, nodesOf, type DocGraph } from "../document/graph";
import { NODE } from "./geometry";
import { isRemark } from "./kinds";
import type { LayoutReply, LayoutRequest } from "./layout.worker";

/** Approximate height of a node with outputs; the ports of models aren't known yet. */
const ROOM = 320;

/** True if all nodes have the same position, as in graphs written by programs. */
const areStacked = (graph: DocGraph): boolean => {
  const [first, ...others] = nodesOf(graph).filter(({ type }) => !isRemark(type));
  return first !== undefined && others.length > 0 && others.every(({ x, y }) => x === first.x && y === first.y);
};

/** Lays out a graph whose nodes have no positions of their own. If the layout fails, the graph stays unchanged. */
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
