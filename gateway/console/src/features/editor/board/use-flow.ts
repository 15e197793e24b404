import { upToNode } from "@nodeloom/kernel/graph";
import { Position, type Edge, type Node } from "@xyflow/react";
import { useEffect, useMemo, useRef } from "react";
import { frameOf } from "../../../canvas/frames";
import { boxOf, NODE } from "../../../canvas/geometry";
import { judge } from "../../../canvas/judge";
import { isRemark } from "../../../canvas/kinds";
import { createPortBook, sourcePort, targetPort, type PortBook } from "../../../canvas/ports";
import { edgesOf, kernelGraph, nodesOf, type DocEdge, type DocNode } from "../../../document/graph";
import { useLive } from "../../../runs/live";
import { filesByNode, type OutputFile } from "../../../runs/outputs";
import { useDocument, useEditor, useUi } from "../context";
import type { EdgeViewData } from "./edge-view";
import type { NodeViewData } from "./node-view";
import { nodeTitle } from "../titles";

export type FlowNode = Node<NodeViewData, "nodeloom">;
export type FlowEdge = Edge<EdgeViewData, "nodeloom">;

const NO_FILES: readonly OutputFile[] = [];
const HALF = NODE.handle / 2;

/** Frames let the pointer through but for their title, and are not what a box around nodes means. */
const FRAME = { zIndex: -2, selectable: false, dragHandle: ".frame-title", style: { pointerEvents: "none" } } as const;

const flowNode = (node: DocNode, data: NodeViewData, selected: boolean): FlowNode => {
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
    ...(frameOf(node) ? FRAME : { zIndex: isRemark(node.type) ? -1 : 0 }),
    ariaLabel: nodeTitle(node),
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

const flowEdge = (edge: DocEdge, ports: PortBook, selected: boolean): FlowEdge => {
  const [from, to] = [ports.get(edge.source), ports.get(edge.target)];
  const sourceHandle = sourcePort(edge, from);
  return {
    id: edge.id,
    type: "nodeloom",
    source: edge.source,
    target: edge.target,
    sourceHandle,
    targetHandle: targetPort(edge, to),
    selected,
    data: { type: from?.outputs.find(({ name }) => name === sourceHandle)?.type ?? "any" },
  };
};

/** Remembers what was made from what: elements that did not change stay the same objects, and are not drawn again. */
const createCache = <From extends object, Made>() => {
  const known = new WeakMap<From, { parts: readonly unknown[]; made: Made }>();
  return (from: From, parts: readonly unknown[], make: () => Made): Made => {
    const before = known.get(from);
    if (before?.parts.every((part, index) => part === parts[index])) return before.made;
    const made = make();
    known.set(from, { parts, made });
    return made;
  };
};

/** The graph as the canvas draws it. Publishes ports, boxes and the judgement for the rest of the editor. */
export const useFlow = (): { nodes: FlowNode[]; edges: FlowEdge[] } => {
  const { slug, ui, schemaOf, terms, markupPermille } = useEditor();
  const graph = useDocument((state) => state.graph);
  const selection = useDocument((state) => state.selection);
  const execution = useLive(({ runs }) => runs[slug]?.execution);
  const caches = useRef({
    ports: createPortBook(),
    data: createCache<DocNode, NodeViewData>(),
    nodes: createCache<DocNode, FlowNode>(),
    edges: createCache<DocEdge, FlowEdge>(),
  });
  const files = useMemo(() => filesByNode(graph, execution?.nodes ?? [], execution?.result), [graph, execution]);
  const ports = useMemo(() => caches.current.ports(graph, schemaOf), [graph, schemaOf]);
  const filesOf = useRef(new Map<string, readonly OutputFile[]>());
  const nodes = useMemo(() => {
    const { data, nodes: made } = caches.current;
    return nodesOf(graph).map((node) => {
      const own = ports.get(node.id)!;
      // The same files again must be the same array, or every node were new with every event.
      const found = files.get(node.id) ?? NO_FILES;
      const before = filesOf.current.get(node.id) ?? NO_FILES;
      const same = found.length === before.length && found.every(({ url }, index) => url === before[index]!.url);
      const shown = same ? before : found;
      filesOf.current.set(node.id, shown);
      const view = data(node, [own, shown], () => ({ node, ports: own, box: boxOf(node, own, shown.length > 0), files: shown }));
      const selected = selection.nodes.has(node.id);
      return made(node, [view, selected], () => flowNode(node, view, selected));
    });
  }, [graph, ports, files, selection]);
  const edges = useMemo(() => {
    const { edges: made } = caches.current;
    const there = new Set(nodesOf(graph).map(({ id }) => id));
    return edgesOf(graph)
      .filter(({ source, target }) => there.has(source) && there.has(target))
      .map((edge) => {
        const selected = selection.edges.has(edge.id);
        return made(edge, [ports.get(edge.source), ports.get(edge.target), selected], () => flowEdge(edge, ports, selected));
      });
  }, [graph, ports, selection]);
  useEffect(() => {
    ui.setState({ ports, boxes: new Map(nodes.map(({ id, data }) => [id, data.box])) });
  }, [ui, ports, nodes]);
  const until = useUi((state) => state.until);
  useEffect(() => {
    const part = until === undefined ? undefined : upToNode({ ...kernelGraph(graph), issues: [] }, until);
    if (until !== undefined && !part) ui.setState({ until: undefined });
    ui.setState({ part: part && new Set(part.nodes.map(({ id }) => id)) });
  }, [ui, graph, until]);
  useEffect(() => {
    // Judging is for reading: it may come a moment after the change.
    const timer = setTimeout(() => ui.setState({ judgement: judge(graph, terms, markupPermille) }), JUDGE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [ui, graph, terms, markupPermille]);
  return { nodes, edges };
};
const JUDGE_AFTER_MS = 120;
