import { useReactFlow } from "@xyflow/react";
import { useState, type PointerEvent } from "react";
import { isCaught, type Spot } from "../../canvas/lasso";
import { nodesOf } from "../../document/graph";
import { useEditor, useUi } from "../context";

/** Points closer than this don't change the line. */
const STEP_PX = 3;
const far = (a: Spot, b: Spot): boolean => Math.hypot(a.x - b.x, a.y - b.y) >= STEP_PX;

/** Selects nodes by drawing a line around them; Shift adds to the selection. */
export const Lasso = () => {
  const { document, scene } = useEditor();
  const on = useUi((state) => state.lasso);
  const { screenToFlowPosition } = useReactFlow();
  const [line, setLine] = useState<readonly Spot[]>([]);
  if (!on) return null;
  const spotOf = ({ clientX: x, clientY: y }: PointerEvent): Spot => ({ x, y });
  const choose = (more: boolean): void => {
    const around = line.map((spot) => screenToFlowPosition(spot));
    const { graph, selection } = document.store.getState();
    const { boxes } = scene.store.getState();
    const caught = nodesOf(graph)
      .filter(({ id, x, y }) => {
        const box = boxes.get(id);
        return box !== undefined && isCaught({ x, y, width: box.width, height: box.height }, around);
      })
      .map(({ id }) => id);
    document.select(more ? [...selection.nodes, ...caught] : caught);
    setLine([]);
  };
  const { left, top } = window.document.querySelector(".board")?.getBoundingClientRect() ?? new DOMRect();
  return (
    <svg
      className="absolute inset-0 z-5 size-full cursor-crosshair touch-none"
      role="presentation"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setLine([spotOf(event)]);
      }}
      onPointerMove={(event) => {
        const spot = spotOf(event);
        if (line.length > 0 && far(line.at(-1)!, spot)) setLine([...line, spot]);
      }}
      onPointerUp={(event) => choose(event.shiftKey)}
      onPointerCancel={() => setLine([])}
    >
      {line.length > 1 && (
        <polygon
          points={line.map(({ x, y }) => `${x - left},${y - top}`).join(" ")}
          className="fill-accent/10 stroke-accent"
          strokeWidth={1.5}
          strokeDasharray="5 4"
        />
      )}
    </svg>
  );
};
