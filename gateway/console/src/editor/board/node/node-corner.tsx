import { useReactFlow } from "@xyflow/react";
import { useRef, type PointerEvent } from "react";
import { isRemark } from "../../../canvas/kinds";
import { boundedView, NODE, type Box } from "../../../canvas/geometry";
import type { DocNode, NodeView } from "../../../document/graph";
import { resizeBy } from "../../commands/media-actions";
import { useEditor, useUi } from "../../context";

/** Heights that resizing changes: of the media, else of the text. */
const heightsOf = (node: DocNode, { floor, well, height }: Box): NodeView => {
  if (floor && floor.preview !== "sound") return { media: floor.height - (floor.hasStrip ? NODE.strip : 0) };
  if (isRemark(node.type)) return { text: height };
  return well ? { text: well.height } : {};
};

/** Resizes a node's media or text. */
export const NodeCorner = ({ node, box }: { node: DocNode; box: Box }) => {
  const editor = useEditor();
  const locked = useUi((state) => state.locked) || !editor.canEdit;
  const { getZoom } = useReactFlow();
  const from = useRef<{ x: number; y: number; view: NodeView }>(undefined);
  if (locked) return null;
  const viewAt = ({ clientX, clientY }: PointerEvent): NodeView | undefined => {
    if (!from.current) return undefined;
    const { x, y, view } = from.current;
    const [dx, dy] = [(clientX - x) / getZoom(), (clientY - y) / getZoom()];
    const newHeights = Object.entries(heightsOf(node, box)).map(([name]) => [name, view[name as "media" | "text"]! + dy] as const);
    return boundedView({ ...node.view, width: view.width! + dx, ...Object.fromEntries(newHeights) });
  };
  return (
    <div
      className="node-corner nodrag nopan"
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, y: event.clientY, view: { width: box.width, ...heightsOf(node, box) } };
      }}
      onPointerMove={(event) => {
        const view = viewAt(event);
        if (view) editor.scene.preview(node.id, view);
      }}
      onPointerUp={(event) => {
        const view = viewAt(event);
        from.current = undefined;
        if (view) resizeBy(editor, node, view);
      }}
    />
  );
};
