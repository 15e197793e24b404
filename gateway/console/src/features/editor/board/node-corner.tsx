import { useReactFlow } from "@xyflow/react";
import { useRef, type PointerEvent } from "react";
import { boundedView, NODE, type Box } from "../../../canvas/geometry";
import type { DocNode, NodeView } from "../../../document/graph";
import { resizeBy } from "../commands/media-actions";
import { useEditor, useUi } from "../context";

/** The corner that makes what a node shows larger or smaller. */
export const NodeCorner = ({ node, box }: { node: DocNode; box: Box }) => {
  const editor = useEditor();
  const locked = useUi((state) => state.locked) || !editor.canEdit;
  const { getZoom } = useReactFlow();
  const from = useRef<{ x: number; y: number; view: NodeView }>(undefined);
  if (locked || !box.floor || box.floor.preview === "sound") return null;
  const media = box.floor.height - (box.floor.hasStrip ? NODE.strip : 0);
  const viewAt = ({ clientX, clientY }: PointerEvent): NodeView | undefined => {
    if (!from.current) return undefined;
    const { x, y, view } = from.current;
    return boundedView({ width: view.width + (clientX - x) / getZoom(), media: view.media + (clientY - y) / getZoom() });
  };
  return (
    <div
      className="node-corner nodrag nopan"
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, y: event.clientY, view: { width: box.width, media } };
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
