import { useReactFlow } from "@xyflow/react";
import { useState, type PointerEvent } from "react";
import { frameOf, frameSize, type FrameSize } from "../../../canvas/frames";
import { noteText } from "../../../canvas/geometry";
import { setData } from "../../../document/edit";
import type { DocNode } from "../../../document/graph";
import { classes } from "../../../ui/classes";
import { useEditor, useUi } from "../context";

/** The corner that makes a frame larger or smaller. */
const Corner = ({ node, size, onSize }: { node: DocNode; size: FrameSize; onSize: (size: FrameSize | undefined) => void }) => {
  const { document } = useEditor();
  const { getZoom } = useReactFlow();
  const [from, setFrom] = useState<{ x: number; y: number; size: FrameSize }>();
  const sizeAt = ({ clientX, clientY }: PointerEvent, { x, y, size: before }: NonNullable<typeof from>): FrameSize => {
    const zoom = getZoom();
    return frameSize({ width: before.width + (clientX - x) / zoom, height: before.height + (clientY - y) / zoom });
  };
  return (
    <div
      className="frame-corner nodrag nopan"
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        setFrom({ x: event.clientX, y: event.clientY, size });
      }}
      onPointerMove={(event) => from && onSize(sizeAt(event, from))}
      onPointerUp={(event) => {
        if (!from) return;
        const next = sizeAt(event, from);
        document.change("Resize frame", (graph) => setData(graph, node.id, ["frame"], next));
        setFrom(undefined);
        onSize(undefined);
      }}
    />
  );
};

/** A frame behind nodes: its title is what is taken hold of; everything else lets the pointer through. */
export const FrameView = ({ node, selected }: { node: DocNode; selected: boolean }) => {
  const { canEdit } = useEditor();
  const locked = useUi((state) => state.locked);
  const [resized, setResized] = useState<FrameSize>();
  const size = resized ?? frameOf(node)!;
  return (
    <div className={classes("frame", selected && "frame-selected")} style={{ width: size.width, height: size.height }}>
      <div className="frame-title truncate">{noteText(node) || "Frame"}</div>
      {canEdit && !locked && <Corner node={node} size={size} onSize={setResized} />}
    </div>
  );
};
