import { BaseEdge, EdgeLabelRenderer, getBezierPath, type EdgeProps } from "@xyflow/react";
import type { PortType } from "@nodeloom/kernel/graph";
import { Plus, X } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import { portColour } from "../../../canvas/port-mark";
import { countRender } from "../../../canvas/renders";
import { removeItems } from "../../../document/edit";
import { useEditor, useUi } from "../context";
import { isLeftOut } from "../ui-store";

export interface EdgeViewData extends Record<string, unknown> {
  type: PortType;
}

/** From where the pointer met a link to its tools is a way that no hand follows exactly. */
const GRACE_MS = 400;

/** Whether the pointer is over something, or was a moment ago. */
const useOver = () => {
  const [over, setOver] = useState(false);
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(leaving.current), []);
  const onMouseEnter = (): void => {
    clearTimeout(leaving.current);
    setOver(true);
  };
  const onMouseLeave = (): void => {
    leaving.current = setTimeout(() => setOver(false), GRACE_MS);
  };
  return { over, pointer: { onMouseEnter, onMouseLeave } };
};

/** A link in the colour of what flows; over its middle: put a node in, take it away. */
export const EdgeView = memo((props: EdgeProps & { data?: EdgeViewData }) => {
  const { id, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, selected, data, target } = props;
  countRender(`edge ${id}`);
  const { document, ui, canEdit } = useEditor();
  const { over, pointer } = useOver();
  const dimmed = useUi((state) => state.linking !== undefined || isLeftOut(state, target));
  const [path, x, y] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition });
  return (
    <>
      <g {...pointer}>
        <BaseEdge
          id={id}
          path={path}
          className="edge-path"
          style={{ stroke: portColour(data?.type ?? "any"), opacity: dimmed ? 0.35 : 0.85 }}
          interactionWidth={22}
        />
      </g>
      {canEdit && (over || selected === true) && (
        <EdgeLabelRenderer>
          <div className="edge-tools nodrag nopan" style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }} {...pointer}>
            <button
              type="button"
              tabIndex={-1}
              aria-label="Insert a node into this link"
              className="flex size-6 items-center justify-center rounded-full border border-line-strong bg-surface text-text shadow-panel hover:bg-hover"
              onClick={(event) =>
                ui.setState({ palette: { at: { x: event.clientX, y: event.clientY }, place: { x: x - 124, y: y - 60 }, edgeId: id } })
              }
            >
              <Plus className="size-3.5" aria-hidden />
            </button>
            <button
              type="button"
              tabIndex={-1}
              aria-label="Remove this link"
              className="flex size-6 items-center justify-center rounded-full border border-line-strong bg-surface text-text shadow-panel hover:bg-bad-soft hover:text-bad"
              onClick={() => document.change("Remove link", (graph) => removeItems(graph, [], [id]))}
            >
              <X className="size-3.5" aria-hidden />
            </button>
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});
EdgeView.displayName = "EdgeView";
