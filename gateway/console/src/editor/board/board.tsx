import {
  Background,
  BackgroundVariant,
  ReactFlow,
  SelectionMode,
  useReactFlow,
  type Connection,
  type FinalConnectionState,
  type OnConnectStartParams,
} from "@xyflow/react";
import { Suspense, useCallback, useEffect, useRef, type MouseEvent as ReactMouseEvent } from "react";
import { frameOf } from "../../canvas/frames";
import { NODE } from "../../canvas/geometry";
import { fits, type Port } from "../../canvas/ports";
import { reconnect, removeItems, type Ends, type Point } from "../../document/edit";
import { leadsTo } from "../../document/graph";
import { complainAbout, link, linkStart, linkToNode, replacedBy, sayReplaced } from "../commands/actions";
import type { Stage } from "../commands/command";
import { useEditor, useScene, useUi } from "../context";
import { innerSlug } from "../inspector/inner/ports";
import { Lasso, LostNodes, Minimap } from "../panels/lazy-panels";
import { EdgeView } from "./edge-view";
import { GuideLines } from "./guide-lines";
import { NodeView } from "./node/node-view";
import { nearestEdge } from "./nearest-edge";
import { useBoardMenu } from "./use-board-menu";
import { useDragging } from "./use-dragging";
import { useDrop } from "./use-drop";
import { useReveal } from "./use-reveal";
import { useSelecting } from "./use-selecting";
import type { FlowEdge, FlowNode } from "../scene/flow";
import { BOARD } from "../../messages/editor/board";

const NODE_TYPES = { nodeloom: NodeView };
const EDGE_TYPES = { nodeloom: EdgeView };
/** Below these zooms nodes are simplified and titles enlarged; see canvas.css. */
const FAR_BELOW = [0.6, 0.38, 0.24] as const;
const NARROW = "(max-width: 767px)";
const MIN_ZOOM = 0.08;
const MAX_ZOOM = 2;
const MINIMAP_FROM = 12;

const endsOf = ({ source, target, sourceHandle, targetHandle }: Connection): Ends => ({ source, target, sourceHandle, targetHandle });
const pointOf = (event: MouseEvent | TouchEvent): Point => {
  const { clientX: x, clientY: y } = "changedTouches" in event ? event.changedTouches[0]! : event;
  return { x, y };
};

type PortOf = (nodeId: string, name: string | null, side: "input" | "output") => Port | undefined;

/** Creates links by dragging. */
const useLinking = () => {
  const editor = useEditor();
  const { document, ui, scene, canEdit } = editor;
  const { screenToFlowPosition } = useReactFlow();
  const portOf = useCallback<PortOf>(
    (nodeId, name, side) => {
      const ports = scene.store.getState().ports.get(nodeId);
      return (side === "input" ? ports?.inputs : ports?.outputs)?.find((port) => port.name === name);
    },
    [scene],
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
    else if (under?.closest(".react-flow__pane")) {
      const { x, y } = screenToFlowPosition(at);
      ui.setState({ palette: { at, place: { x: linking.side === "output" ? x : x - NODE.width, y }, from: linking } });
    }
  };
  const make = (connection: Connection): void => {
    const ends = endsOf(connection);
    const input = portOf(ends.target, ends.targetHandle, "input");
    link(editor, ends, input);
  };
  return { isValid, start, end, make, portOf };
};

/** Moves ends of links. Dropping an end on an empty spot removes the link. */
const useReconnecting = (portOf: PortOf) => {
  const editor = useEditor();
  const { document } = editor;
  const landed = useRef(false);
  return {
    onReconnectStart: () => {
      landed.current = false;
    },
    onReconnect: (edge: FlowEdge, connection: Connection) => {
      landed.current = true;
      const [before, ends] = [document.store.getState().graph, endsOf(connection)];
      const replaced = replacedBy(before, ends, portOf(ends.target, ends.targetHandle, "input")).filter((id) => id !== edge.id);
      document.change(BOARD.moveLink, (graph) => reconnect(removeItems(graph, [], replaced), edge.id, ends));
      sayReplaced(editor, before, replaced);
    },
    onReconnectEnd: (_event: MouseEvent | TouchEvent, edge: FlowEdge, _moved: unknown, { fromHandle, toHandle }: FinalConnectionState) => {
      const start = fromHandle && toHandle && linkStart(editor, fromHandle);
      // A port that rejects the link shows the reason, and the link stays.
      if (!landed.current && start) complainAbout(editor, start, toHandle);
      else if (!landed.current) document.change(BOARD.removeLink, (graph) => removeItems(graph, [], [edge.id]));
    },
  };
};

export interface BoardProps {
  stage: Stage;
  viewport: { x: number; y: number; zoom: number };
  onViewport: (viewport: { x: number; y: number; zoom: number }) => void;
}

export const Board = ({ stage, viewport, onViewport }: BoardProps) => {
  const editor = useEditor();
  const { ui, canEdit } = editor;
  const flowNodes = useScene((state) => state.nodes);
  const edges = useScene((state) => state.edges);
  const { nodes, guides, drag, drop } = useDragging(flowNodes);
  const linking = useLinking();
  const reconnecting = useReconnecting(linking.portOf);
  const select = useSelecting();
  const dropping = useDrop();
  const boardMenu = useBoardMenu();
  const locked = useUi((state) => state.locked) || !canEdit;
  const frame = useRef<HTMLDivElement>(null);
  useReveal(frame);
  const { screenToFlowPosition } = useReactFlow();
  const setFar = (zoom: number): void => {
    if (frame.current) frame.current.dataset.far = String(FAR_BELOW.filter((below) => zoom < below).length);
  };
  const setMoving = (moving: boolean): void => {
    if (frame.current) frame.current.dataset.moving = String(moving);
  };
  useEffect(() => setFar(viewport.zoom), [viewport.zoom]);
  const addHere = (event: ReactMouseEvent): void => {
    if (!locked && (event.target as HTMLElement).classList.contains("react-flow__pane"))
      ui.setState({
        palette: { at: { x: event.clientX, y: event.clientY }, place: screenToFlowPosition({ x: event.clientX, y: event.clientY }) },
      });
  };
  return (
    <div ref={frame} className="board relative size-full" onDoubleClick={addHere} {...boardMenu} {...(locked ? {} : dropping)}>
      <ReactFlow<FlowNode, FlowEdge>
        nodes={nodes}
        edges={edges as FlowEdge[]}
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
        onMoveStart={() => setMoving(true)}
        onMove={(_event, { zoom }) => setFar(zoom)}
        onMoveEnd={(_event, moved) => {
          setMoving(false);
          onViewport(moved);
        }}
        onNodeClick={(_event, { id, data }) => {
          if (frameOf(data.node)) editor.document.select([id]);
          // On a phone this is the only way to the node's settings.
          const opens = matchMedia(NARROW).matches && !ui.getState().panelOpen;
          if (opens || ui.getState().panel !== "node") ui.setState({ panel: "node", ...(opens ? { panelOpen: true } : {}) });
        }}
        onNodeDoubleClick={(event, { data }) => {
          const slug = innerSlug(data.node);
          // A double click on the name renames it.
          if (slug !== undefined && !(event.target as HTMLElement).closest(".node-title, button, input")) stage.open(slug);
        }}
        onEdgeClick={({ clientX, clientY }, { id }) => {
          const nearest = nearestEdge(clientX, clientY);
          if (nearest !== undefined && nearest !== id) editor.document.select([], [nearest]);
        }}
        onNodeContextMenu={(event, { id }) => {
          event.preventDefault();
          if (!editor.document.store.getState().selection.nodes.has(id)) editor.document.select([id]);
          ui.setState({ nodeMenu: { x: event.clientX, y: event.clientY } });
        }}
        onPaneClick={() => {
          ui.setState({ palette: undefined });
          // The canvas library doesn't deselect frames.
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
        <Suspense fallback={null}>
          <LostNodes stage={stage} />
        </Suspense>
        {nodes.length >= MINIMAP_FROM && (
          <Suspense fallback={null}>
            <Minimap />
          </Suspense>
        )}
      </ReactFlow>
      <Suspense fallback={null}>
        <Lasso />
      </Suspense>
    </div>
  );
};
