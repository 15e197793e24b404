import { useRef, type PointerEvent } from "react";
import { useEditor } from "../context";

const RIGHT = 2;
/** Farther, and the canvas was moved. */
const STILL_PX = 4;

/** Opens the canvas's menu where it is clicked with the right button, which moves the canvas when it is dragged. */
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
