import { Position, type Edge, type Node } from "@xyflow/react";
import type { PortType } from "@nodeloom/kernel/graph";
import { FOLDED, frameOf } from "../../canvas/frames";
import { NODE, type Box } from "../../canvas/geometry";
import type { Rect } from "../../canvas/rects";
import { isRemark } from "../../canvas/kinds";
import { sourcePort, targetPort, type NodePorts, type PortBook } from "../../canvas/ports";
import { routeOf, type Route } from "../../canvas/routes";
import type { DocEdge, DocNode } from "../../document/graph";

/** Nodes and links in the canvas library's form. */
export interface NodeViewData extends Record<string, unknown> {
  node: DocNode;
  ports: NodePorts;
  box: Box;
  title: string;
}
export interface EdgeViewData extends Record<string, unknown> {
  type: PortType;
  list: boolean;
  route: Route | undefined;
  targetPort: string;
}
export type FlowNode = Node<NodeViewData, "nodeloom">;
export type FlowEdge = Edge<EdgeViewData, "nodeloom">;

const HALF = NODE.handle / 2;

/** Added to selected nodes' z-index; frames and notes stay behind. */
const RAISED = 1_000;
/** Only a frame's title reacts to the pointer, and box selection ignores frames. */
const FRAME = { selectable: false, dragHandle: ".frame-title", style: { pointerEvents: "none" } } as const;

export const flowNode = (node: DocNode, data: NodeViewData, selected: boolean): FlowNode => {
  const { width, height, inputs, outputs } = data.box;
  const size = { width: NODE.handle, height: NODE.handle };
  return {
    id: node.id,
    type: "nodeloom",
    position: { x: node.x, y: node.y },
    data,
    selected,
    width,
    height,
    measured: { width, height },
    ...(frameOf(node) ? FRAME : {}),
    zIndex: isRemark(node.type) ? (frameOf(node) ? -2 : -1) - (selected ? RAISED : 0) : 0,
    ariaLabel: data.title,
    handles: [
      ...inputs.map(({ name, y }) => ({ id: name, type: "target" as const, position: Position.Left, x: -HALF, y: y - HALF, ...size })),
      ...outputs.map(({ name, y }) => ({
        id: name,
        type: "source" as const,
        position: Position.Right,
        x: width - HALF,
        y: y - HALF,
        ...size,
      })),
    ],
  };
};

/** @param hidden ids of hidden nodes, with the collapsed frame that represents each */
export const flowEdge = (
  edge: DocEdge,
  ports: PortBook,
  route: Route | undefined,
  selected: boolean,
  hidden: ReadonlyMap<string, string>,
): FlowEdge => {
  const [from, to] = [ports.get(edge.source), ports.get(edge.target)];
  const [output, input] = [sourcePort(edge, from), targetPort(edge, to)];
  const port = from?.outputs.find(({ name }) => name === output);
  const [source, target] = [hidden.get(edge.source), hidden.get(edge.target)];
  return {
    id: edge.id,
    type: "nodeloom",
    source: source ?? edge.source,
    target: target ?? edge.target,
    sourceHandle: source === undefined ? output : FOLDED.port,
    targetHandle: target === undefined ? input : FOLDED.port,
    selected,
    reconnectable: source === undefined && target === undefined,
    data: { type: port?.type ?? "any", list: port?.list === true, route, targetPort: input },
  };
};

/** Detours of links around nodes. */
export const routesOf = (
  edges: readonly DocEdge[],
  nodes: ReadonlyMap<string, DocNode>,
  boxes: ReadonlyMap<string, Box>,
  ports: PortBook,
): ReadonlyMap<string, Route> => {
  const rects = new Map<string, Rect>();
  for (const [id, { x, y, type }] of nodes) {
    const { width, height } = boxes.get(id)!;
    if (!isRemark(type)) rects.set(id, { x, y, width, height });
  }
  const routes = new Map<string, Route>();
  for (const edge of edges) {
    const [source, target] = [nodes.get(edge.source), nodes.get(edge.target)];
    if (!source || !target) continue;
    const [own, other] = [boxes.get(source.id)!, boxes.get(target.id)!];
    const out = own.outputs.find(({ name }) => name === sourcePort(edge, ports.get(source.id)));
    const into = other.inputs.find(({ name }) => name === targetPort(edge, ports.get(target.id)));
    if (!out || !into) continue;
    const ends = { from: { x: source.x + own.width, y: source.y + out.y }, to: { x: target.x, y: target.y + into.y } };
    const route = routeOf({ source: source.id, target: target.id, ...ends }, rects);
    if (route) routes.set(edge.id, route);
  }
  return routes;
};
