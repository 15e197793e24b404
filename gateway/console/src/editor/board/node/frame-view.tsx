import { useReactFlow } from "@xyflow/react";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useState, type PointerEvent } from "react";
import { FOLDED, frameOf, frameSize, hiddenBy, type FrameSize } from "../../../canvas/frames";
import { noteText } from "../../../canvas/geometry";
import { setData } from "../../../document/edit";
import type { DocNode } from "../../../document/graph";
import { classes } from "../../../ui/classes";
import { collapse } from "../../commands/node-actions";
import { useEditor, useScene, useUi } from "../../context";
import { noteMember } from "./note-view";
import { paintOf } from "./paints";
import { Rename } from "./rename";
import { FRAME_VIEW } from "../../../messages/editor/board";

/** Resizes a frame. */
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
        document.change(FRAME_VIEW.resizeFrame, (graph) => setData(graph, node.id, ["frame"], next));
        setFrom(undefined);
        onSize(undefined);
      }}
    />
  );
};

/** Number and progress of nodes in a collapsed frame. */
const Hidden = ({ ids }: { ids: readonly string[] }) => {
  const states = useScene(({ nodeViews }) => ids.flatMap((id) => nodeViews.get(id)?.progress?.status ?? []).join(" "));
  const words = ["failed", "processing"].find((state) => states.includes(state));
  return (
    <span className="ml-auto shrink-0 text-xs font-normal">
      {ids.length} {ids.length === 1 ? FRAME_VIEW.node : FRAME_VIEW.nodes}
      {words !== undefined && ` · ${words === "failed" ? FRAME_VIEW.failed : FRAME_VIEW.running}`}
    </span>
  );
};

/** A frame behind nodes. Only its title reacts to the pointer. */
export const FrameView = ({ node, selected }: { node: DocNode; selected: boolean }) => {
  const editor = useEditor();
  const locked = useUi((state) => state.locked) || !editor.canEdit;
  const renaming = useUi(({ writing }) => writing?.nodeId === node.id);
  const [resized, setResized] = useState<FrameSize>();
  const hidden = hiddenBy(node);
  const size = hidden ? FOLDED : (resized ?? frameOf(node)!);
  const Chevron = hidden ? ChevronRight : ChevronDown;
  return (
    <div
      data-paint={paintOf(node)}
      className={classes("frame", selected && "frame-selected", hidden && "frame-folded")}
      style={{ width: size.width, height: size.height }}
    >
      <div className="frame-title" onDoubleClick={() => !locked && editor.ui.setState({ writing: { nodeId: node.id, what: "title" } })}>
        {!locked && (
          <button
            type="button"
            tabIndex={-1}
            className="nodrag shrink-0 rounded"
            aria-label={hidden ? FRAME_VIEW.expandFrame : FRAME_VIEW.collapseFrame}
            onClick={() => collapse(editor, [node])}
          >
            <Chevron className="size-4" aria-hidden />
          </button>
        )}
        {renaming && !locked ? (
          <Rename node={node} member={noteMember(node)} />
        ) : (
          <span dir="auto" className="truncate">
            {noteText(node) || FRAME_VIEW.frame}
          </span>
        )}
        {hidden && <Hidden ids={hidden} />}
      </div>
      {!locked && !hidden && <Corner node={node} size={size} onSize={setResized} />}
    </div>
  );
};
