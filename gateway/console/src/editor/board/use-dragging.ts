import type { NodeChange } from "@xyflow/react";
import { useMemo, useState } from "react";
import { frameOf, hiddenBy, onFrame } from "../../canvas/frames";
import { guidesFor, type Guides, type Rect } from "../../canvas/rects";
import { moveNodes, type Point } from "../../document/edit";
import { nodeById } from "../../document/graph";
import { useEditor } from "../context";
import type { FlowNode } from "../scene/flow";
import { USE_DRAGGING } from "../../messages/editor/board";

const NO_GUIDES: Guides = { x: undefined, y: undefined, dx: 0, dy: 0 };

/** Positions during a drag; the document changes at the drop. */
export const useDragging = (flowNodes: readonly FlowNode[]) => {
  const { document } = useEditor();
  const [places, setPlaces] = useState<ReadonlyMap<string, Point>>(new Map());
  const [guides, setGuides] = useState(NO_GUIDES);
  const nodes = useMemo(
    () =>
      places.size === 0
        ? (flowNodes as FlowNode[])
        : flowNodes.map((node) => (places.has(node.id) ? { ...node, position: places.get(node.id)!, dragging: true } : node)),
    [flowNodes, places],
  );
  /** Nodes on dragged frames move with them. */
  const withContents = (moved: ReadonlyMap<string, Point>): Map<string, Point> => {
    const next = new Map(moved);
    const all = flowNodes.map((node) => ({ id: node.id, ...rectOf(node, node.position) }));
    for (const frame of flowNodes) {
      const place = moved.get(frame.id);
      if (!place || !frameOf(frame.data.node)) continue;
      const [dx, dy] = [place.x - frame.position.x, place.y - frame.position.y];
      for (const id of hiddenBy(frame.data.node) ?? onFrame({ id: frame.id, ...rectOf(frame, frame.position) }, all)) {
        const on = nodeById(document.store.getState().graph, id);
        if (on && !moved.has(id)) next.set(id, { x: on.x + dx, y: on.y + dy });
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
      const nearGuides = guidesFor(rectOf(node, first!.position!), others);
      next.set(node.id, { x: first!.position!.x + nearGuides.dx, y: first!.position!.y + nearGuides.dy });
      setGuides(nearGuides);
    }
    setPlaces(next);
  };
  const drop = (): void => {
    setGuides(NO_GUIDES);
    if (places.size > 0)
      document.change(places.size === 1 ? USE_DRAGGING.moveNode : USE_DRAGGING.moveNodes(places.size), (graph) => moveNodes(graph, places));
    setPlaces(new Map());
  };
  return { nodes, guides, drag, drop };
};
