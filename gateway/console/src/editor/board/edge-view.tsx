import { BaseEdge, EdgeLabelRenderer, getBezierPath, type EdgeProps } from "@xyflow/react";
import { Plus, X } from "lucide-react";
import { memo, useEffect, useRef } from "react";
import { NODE } from "../../canvas/geometry";
import { portColour } from "../../canvas/port-mark";
import { countRender } from "../../canvas/renders";
import { routePath } from "../../canvas/routes";
import { removeItems } from "../../document/edit";
import { classes } from "../../ui/classes";
import { useEditor, useLeftOut, useScene, useUi } from "../context";
import type { EdgeViewData } from "../scene/flow";
import { shownIn } from "../scene/scene";
import { nearestEdge } from "./nearest-edge";
import { EDGE_VIEW } from "../../messages/editor/board";

/** Time to move the pointer from a link to its tools. */
const GRACE_MS = 400;

/** True if the pointer is, or was just, on this link. Of overlapping links the nearest counts. */
const useOver = (id: string) => {
  const { ui } = useEditor();
  const over = useUi((state) => state.overEdge === id);
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(leaving.current), []);
  const mean = (edge: string | undefined): void => {
    clearTimeout(leaving.current);
    if (edge !== undefined && ui.getState().overEdge !== edge) ui.setState({ overEdge: edge });
  };
  const onMouseLeave = (): void => {
    clearTimeout(leaving.current);
    leaving.current = setTimeout(() => {
      if (ui.getState().overEdge === id) ui.setState({ overEdge: undefined });
    }, GRACE_MS);
  };
  return {
    over,
    line: { onMouseMove: (event: React.MouseEvent) => mean(nearestEdge(event.clientX, event.clientY)), onMouseLeave },
    tools: { onMouseEnter: () => mean(id), onMouseLeave },
  };
};

/** Path of a link around obstacles, and the position of its tools. The path is straight while its ends are dragged. */
const lineOf = (props: EdgeProps & { data?: EdgeViewData }): readonly [path: string, x: number, y: number] => {
  const { sourceY, targetY, sourcePosition, targetPosition, data } = props;
  // The canvas library ends links at the border of the pressable square around a port; they are drawn up to the port's mark.
  const [sourceX, targetX] = [props.sourceX - NODE.handle / 2, props.targetX + NODE.handle / 2];
  const route = data?.route;
  if (route && route.left > sourceX && route.right < targetX) {
    const ends = { from: { x: sourceX, y: sourceY }, to: { x: targetX, y: targetY } };
    return [routePath(ends, route), (route.left + route.right) / 2, route.y];
  }
  const [path, x, y] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition });
  return [path, x, y];
};

/** A link in its type's colour, with tools in the middle to insert a node or remove the link. */
export const EdgeView = memo((props: EdgeProps & { data?: EdgeViewData }) => {
  const { id, selected, data, target } = props;
  countRender(EDGE_VIEW.edge(id));
  const { document, ui, canEdit } = useEditor();
  const { over, line, tools } = useOver(id);
  const leftOut = useLeftOut(target);
  const linking = useUi((state) => state.linking !== undefined);
  const flows = useScene((state) => shownIn(state, target).progress?.status === "processing");
  const [path, x, y] = lineOf(props);
  const style = { stroke: portColour(data?.type ?? "any"), opacity: leftOut || linking ? 0.35 : 0.9 };
  return (
    <>
      <g {...line}>
        {data?.list === true && <path d={path} className="edge-twin" style={{ stroke: style.stroke, opacity: style.opacity * 0.4 }} />}
        <BaseEdge
          id={id}
          path={path}
          className={classes("edge-path", over && "edge-over", flows && "edge-flows")}
          style={style}
          interactionWidth={22}
        />
      </g>
      {canEdit && (over || selected === true) && (
        <EdgeLabelRenderer>
          <div className="edge-tools nodrag nopan" style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }} {...tools}>
            <button
              type="button"
              tabIndex={-1}
              aria-label={EDGE_VIEW.insertANode}
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
              aria-label={EDGE_VIEW.removeThisLink}
              className="flex size-6 items-center justify-center rounded-full border border-line-strong bg-surface text-text shadow-panel hover:bg-bad-soft hover:text-bad"
              onClick={() => document.change(EDGE_VIEW.removeLink, (graph) => removeItems(graph, [], [id]))}
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
