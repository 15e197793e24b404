import { Graph, layout } from "@dagrejs/dagre";

/** Lays out graphs outside the page's thread. */
export interface LayoutRequest {
  nodes: { id: string; width: number; height: number }[];
  edges: { source: string; target: string }[];
}
export type LayoutReply = { id: string; x: number; y: number }[];

const RANK_GAP = 90;
const NODE_GAP = 44;

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", ranksep: RANK_GAP, nodesep: NODE_GAP, edgesep: NODE_GAP / 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of data.nodes) graph.setNode(id, { width, height });
  for (const { source, target } of data.edges) graph.setEdge(source, target);
  layout(graph);
  const reply: LayoutReply = data.nodes.map(({ id, width, height }) => {
    const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
    return { id, x: x - width / 2, y: y - height / 2 };
  });
  self.postMessage(reply);
};
