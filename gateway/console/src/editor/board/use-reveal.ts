import { useReactFlow } from "@xyflow/react";
import { useEffect, type RefObject } from "react";
import { nodeById } from "../../document/graph";
import { graphOf, rectsOf } from "../chosen";
import { useEditor, useUi } from "../context";
import { glideMs } from "./use-stage";

const MARGIN = 48;

/** Distance that moves a range into a length. A longer range shows its beginning. */
const into = (from: number, to: number, length: number): number => {
  if (from < MARGIN || to - from > length - 2 * MARGIN) return MARGIN - from;
  return Math.min(0, length - MARGIN - to);
};

/** If a new node is out of view, pans the canvas to it by the smallest distance. */
export const useReveal = (frame: RefObject<HTMLElement | null>): void => {
  const editor = useEditor();
  const flow = useReactFlow();
  const id = useUi((state) => state.reveal);
  useEffect(() => {
    if (id === undefined) return;
    editor.ui.setState({ reveal: undefined });
    const node = nodeById(graphOf(editor), id);
    const rect = node && rectsOf(editor, [node]).get(id);
    if (!rect || !frame.current) return;
    const { clientWidth, clientHeight } = frame.current;
    const { x, y, zoom } = flow.getViewport();
    const dx = into(x + rect.x * zoom, x + (rect.x + rect.width) * zoom, clientWidth);
    const dy = into(y + rect.y * zoom, y + (rect.y + rect.height) * zoom, clientHeight);
    if (dx !== 0 || dy !== 0) void flow.setViewport({ x: x + dx, y: y + dy, zoom }, { duration: glideMs() });
  }, [editor, flow, frame, id]);
};
