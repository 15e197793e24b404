import { useRef, type PointerEvent } from "react";
import { useEditor } from "../context";

const RIGHT = 2;
/** A longer move pans the canvas. */
const STILL_PX = 4;

/** Opens the canvas's menu on a right click. Dragging with the right button pans. */
export const useBoardMenu = () => {
  const { document, ui } = useEditor();
  const from = useRef<{ x: number; y: number }>(undefined);
  return {
    onPointerDownCapture: ({ button, target, clientX: x, clientY: y }: PointerEvent): void => {
      const isPane = (target as HTMLElement).classList.contains("react-flow__pane");
      from.current = button === RIGHT && isPane ? { x, y } : undefined;
    },
    onPointerUpCapture: ({ button, clientX: x, clientY: y }: PointerEvent): void => {
      const began = from.current;
      from.current = undefined;
      if (!began || button !== RIGHT || Math.hypot(x - began.x, y - began.y) > STILL_PX) return;
      document.select([]);
      ui.setState({ nodeMenu: { x, y } });
    },
  };
};
