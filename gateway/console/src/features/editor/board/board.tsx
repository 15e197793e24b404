import {
  Background,
  BackgroundVariant,
  MiniMap,
  ReactFlow,
  SelectionMode,
  useReactFlow,
  type Connection,
  type EdgeChange,
  type FinalConnectionState,
  type NodeChange,
  type OnConnectStartParams,
} from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type MouseEvent as ReactMouseEvent } from "react";
import { frameOf, onFrame } from "../../../canvas/frames";
import { guidesFor, type Guides, type Rect } from "../../../canvas/geometry";
import { fits, type Port } from "../../../canvas/ports";
import { connect, moveNodes, reconnect, removeItems, type Ends, type Point } from "../../../document/edit";
import { leadsTo } from "../../../document/graph";
import { complainAbout, linkStart, linkToNode, placeBeside, replacedBy } from "../commands/actions";
import { useEditor, useUi } from "../context";
import { EdgeView } from "./edge-view";
import { GuideLines } from "./guide-lines";
import { Lasso } from "./lasso";
import { NodeView } from "./node-view";
import { useReveal } from "./use-reveal";
import { useFlow, type FlowEdge, type FlowNode } from "./use-flow";
import type { LinkStart } from "../ui-store";

const NODE_TYPES = { nodeloom: NodeView };
const EDGE_TYPES = { nodeloom: EdgeView };
const FAR_BELOW = 0.42;
const MIN_ZOOM = 0.08;
const MAX_ZOOM = 2;
const MINIMAP_FROM = 12;
const NO_GUIDES: Guides = { x: undefined, y: undefined, dx: 0, dy: 0 };

const endsOf = ({ source, target, sourceHandle, targetHandle }: Connection): Ends => ({ source, target, sourceHandle, targetHandle });
const pointOf = (event: MouseEvent | TouchEvent): Point => {
  const { clientX: x, clientY: y } = "changedTouches" in event ? event.changedTouches[0]! : event;
  return { x, y };
};

/** Places of nodes that are being dragged; the document hears of them when they are dropped. */
const useDragging = (flowNodes: FlowNode[]) => {
  const { document } = useEditor();
  const [places, setPlaces] = useState<ReadonlyMap<string, Point>>(new Map());
  const [guides, setGuides] = useState(NO_GUIDES);
  const nodes = useMemo(
    () =>
      places.size === 0
        ? flowNodes
        : flowNodes.map((node) => (places.has(node.id) ? { ...node, position: places.get(node.id)!, dragging: true } : node)),
    [flowNodes, places],
  );
  /** What lies on dragged frames goes with them. */
  const withContents = (moved: ReadonlyMap<string, Point>): Map<string, Point> => {
    const next = new Map(moved);
    const all = flowNodes.map((node) => ({ id: node.id, ...rectOf(node, node.position) }));
    for (const frame of flowNodes) {
      const place = moved.get(frame.id);
      if (!place || !frameOf(frame.data.node)) continue;
      const [dx, dy] = [place.x - frame.position.x, place.y - frame.position.y];
      for (const id of onFrame({ id: frame.id, ...rectOf(frame, frame.position) }, all)) {
        const { x, y } = all.find((one) => one.id === id)!;
        if (!moved.has(id)) next.set(id, { x: x + dx, y: y + dy });
      }
    }
    return next;
  };
  const rectOf = ({ width = 0, height = 0 }: FlowNode, { x, y }: Point): Rect => ({ x, y, width, height });
  const drag = (changes: readonly NodeChange<FlowNode>[]): void => {
    const moved = changes.flatMap((change) => (change.type === "position" && change.position ? [change] : []));
    if (moved.length === 0) return;
    const dragged = new Map(moved.map(({ id, position }) => [id, position!]));
    const next = new Map([...places, ...withContents(dragged)]);
    const [first] = moved;
    const node = flowNodes.find(({ id }) => id === first!.id);
    if (node && moved.length === 1 && !frameOf(node.data.node)) {
      const others = flowNodes.filter(({ id }) => !next.has(id)).map((other) => rectOf(other, other.position));
      const found = guidesFor(rectOf(node, first!.position!), others);
      next.set(node.id, { x: first!.position!.x + found.dx, y: first!.position!.y + found.dy });
      setGuides(found);
    }
    setPlaces(next);
  };
  const drop = (): void => {
    setGuides(NO_GUIDES);
    if (places.size > 0)
      document.change(places.size === 1 ? "Move node" : `Move ${places.size} nodes`, (graph) => moveNodes(graph, places));
    setPlaces(new Map());
  };
  return { nodes, guides, drag, drop };
};

/** Links that are made by dragging. */
const useLinking = () => {
  const editor = useEditor();
  const { document, ui, canEdit } = editor;
  const { screenToFlowPosition } = useReactFlow();
  const portOf = useCallback(
    (nodeId: string, name: string | null, side: "input" | "output"): Port | undefined => {
      const ports = ui.getState().ports.get(nodeId);
      return (side === "input" ? ports?.inputs : ports?.outputs)?.find((port) => port.name === name);
    },
    [ui],
  );
  const openPalette = useCallback(
    (at: Point, from: LinkStart, beside: boolean) => {
      const place = beside ? placeBeside(editor, from.nodeId, from.side) : screenToFlowPosition(at);
      ui.setState({ palette: { at, place: beside || from.side === "output" ? place : { x: place.x - 248, y: place.y }, from } });
    },
    [editor, ui, screenToFlowPosition],
  );
  const isValid = useCallback(
    (connection: Connection | FlowEdge): boolean => {
      const { source, target, sourceHandle = null, targetHandle = null } = connection;
      const [output, input] = [portOf(source, sourceHandle, "output"), portOf(target, targetHandle, "input")];
      if (!output || !input || source === target) return false;
      return fits(output, input) && !leadsTo(document.store.getState().graph, target, source);
    },
    [portOf, document],
  );
  const start = (_event: unknown, { nodeId, handleId, handleType }: OnConnectStartParams): void => {
    const side = handleType === "source" ? "output" : "input";
    const port = nodeId === null ? undefined : portOf(nodeId, handleId, side);
    if (nodeId !== null && port) ui.setState({ linking: { nodeId, side, port } });
  };
  const end = (event: MouseEvent | TouchEvent, state: FinalConnectionState): void => {
    const { linking } = ui.getState();
    ui.setState({ linking: undefined });
    if (!linking || !canEdit) return;
    if (state.toHandle) {
      if (state.isValid === false) complainAbout(editor, linking, state.toHandle);
      return;
    }
    const at = pointOf(event);
    const under = window.document.elementFromPoint(at.x, at.y);
    const node = under?.closest<HTMLElement>(".react-flow__node")?.dataset.id;
    if (node !== undefined) linkToNode(editor, linking, node);
    else if (under?.closest(".react-flow__pane")) openPalette(at, linking, false);
  };
  const make = (connection: Connection): void => {
    const ends = endsOf(connection);
    const input = portOf(ends.target, ends.targetHandle, "input");
    document.change("Connect", (graph) => connect(graph, ends, replacedBy(graph, ends, input)));
  };
  return { isValid, start, end, make, openPalette };
};

/** Ends of links that are moved; dropped on nothing, the link goes. */
const useReconnecting = () => {
  const editor = useEditor();
  const { document } = editor;
  const landed = useRef(false);
  return {
    onReconnectStart: () => {
      landed.current = false;
    },
    onReconnect: (edge: FlowEdge, connection: Connection) => {
      landed.current = true;
      document.change("Move link", (graph) => reconnect(graph, edge.id, endsOf(connection)));
    },
    onReconnectEnd: (_event: MouseEvent | TouchEvent, edge: FlowEdge, _moved: unknown, { fromHandle, toHandle }: FinalConnectionState) => {
      const start = fromHandle && toHandle && linkStart(editor, fromHandle);
      // A port that does not take it says so, and the link stays.
      if (!landed.current && start) complainAbout(editor, start, toHandle);
      else if (!landed.current) document.change("Remove link", (graph) => removeItems(graph, [], [edge.id]));
    },
  };
};

const useSelecting = () => {
  const { document } = useEditor();
  return (changes: readonly (NodeChange<FlowNode> | EdgeChange<FlowEdge>)[], of: "nodes" | "edges"): void => {
    const chosen = changes.flatMap((change) => (change.type === "select" ? [change] : []));
    if (chosen.length === 0) return;
    const { selection } = document.store.getState();
    const next = new Set(selection[of]);
    for (const { id, selected } of chosen) if (selected) next.add(id);
    for (const { id, selected } of chosen) if (!selected) next.delete(id);
    document.select(of === "nodes" ? next : selection.nodes, of === "edges" ? next : selection.edges);
  };
};

export interface BoardProps {
  viewport: { x: number; y: number; zoom: number };
  onViewport: (viewport: { x: number; y: number; zoom: number }) => void;
}

/** The canvas. */
export const Board = ({ viewport, onViewport }: BoardProps) => {
  const editor = useEditor();
  const { ui, canEdit } = editor;
  const flow = useFlow();
  const { nodes, guides, drag, drop } = useDragging(flow.nodes);
  const linking = useLinking();
  const reconnecting = useReconnecting();
  const select = useSelecting();
  const locked = useUi((state) => state.locked) || !canEdit;
  const frame = useRef<HTMLDivElement>(null);
  useReveal(frame);
  const { screenToFlowPosition } = useReactFlow();
  const { openPalette } = linking;
  const setFar = (zoom: number): void => {
    if (frame.current) frame.current.dataset.far = String(zoom < FAR_BELOW);
  };
  useEffect(() => setFar(viewport.zoom), [viewport.zoom]);
  useEffect(() => {
    const element = frame.current;
    const onPort = (event: Event): void => {
      const { nodeId, port, side, x, y } = (
        event as CustomEvent<{ nodeId: string; port: Port; side: "input" | "output"; x: number; y: number }>
      ).detail;
      openPalette({ x, y }, { nodeId, port, side }, true);
    };
    element?.addEventListener("nodeloom:port", onPort, true);
    return () => element?.removeEventListener("nodeloom:port", onPort, true);
  }, [openPalette]);
  const addHere = (event: ReactMouseEvent): void => {
    if (!locked && (event.target as HTMLElement).classList.contains("react-flow__pane"))
      ui.setState({
        palette: { at: { x: event.clientX, y: event.clientY }, place: screenToFlowPosition({ x: event.clientX, y: event.clientY }) },
      });
  };
  return (
    <div ref={frame} className="board relative size-full" onDoubleClick={addHere}>
      <ReactFlow<FlowNode, FlowEdge>
        nodes={nodes}
        edges={flow.edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        defaultViewport={viewport}
        minZoom={MIN_ZOOM}
        maxZoom={MAX_ZOOM}
        onNodesChange={(changes) => {
          drag(changes);
          select(changes, "nodes");
        }}
        onEdgesChange={(changes) => select(changes, "edges")}
        onNodeDragStop={drop}
        onSelectionDragStop={drop}
        onConnect={linking.make}
        onConnectStart={linking.start}
        onConnectEnd={linking.end}
        isValidConnection={linking.isValid}
        {...(locked ? {} : reconnecting)}
        onMove={(_event, { zoom }) => setFar(zoom)}
        onMoveEnd={(_event, moved) => onViewport(moved)}
        onNodeClick={(_event, { id, data }) => {
          if (frameOf(data.node)) editor.document.select([id]);
          ui.setState((state) => (state.panel === "node" ? {} : { panel: "node" }));
        }}
        onNodeContextMenu={(event, { id }) => {
          event.preventDefault();
          if (!editor.document.store.getState().selection.nodes.has(id)) editor.document.select([id]);
          ui.setState({ nodeMenu: { x: event.clientX, y: event.clientY } });
        }}
        onPaneClick={() => {
          ui.setState({ palette: undefined });
          // Frames are none of the nodes that the canvas lets go of by itself.
          if (editor.document.store.getState().selection.nodes.size > 0) editor.document.select([]);
        }}
        nodesDraggable={!locked}
        nodesConnectable={!locked}
        edgesReconnectable={!locked}
        connectOnClick={false}
        connectionRadius={28}
        selectionOnDrag
        panOnDrag={[1, 2]}
        panOnScroll
        zoomOnDoubleClick={false}
        selectionMode={SelectionMode.Partial}
        multiSelectionKeyCode={["Shift", "Meta", "Control"]}
        deleteKeyCode={null}
        disableKeyboardA11y
        nodesFocusable={false}
        edgesFocusable={false}
        proOptions={{ hideAttribution: true }}
      >
        <Background variant={BackgroundVariant.Dots} gap={22} size={1.4} />
        <GuideLines guides={guides} />
        {nodes.length >= MINIMAP_FROM && <MiniMap pannable zoomable className="max-md:hidden" ariaLabel="Map of the canvas" />}
      </ReactFlow>
      <Lasso />
    </div>
  );
};
