import { useRef, useState, type PointerEvent, type WheelEvent } from "react";

const MOST = 12;
const STEP = 1.25;
interface View {
  zoom: number;
  x: number;
  y: number;
}
const FIT: View = { zoom: 1, x: 0, y: 0 };
const bounded = (zoom: number): number => Math.min(MOST, Math.max(1, zoom));

/** Zoom of a picture: the whole picture, or a part that follows the pointer. */
export const useZoom = () => {
  const [view, setView] = useState(FIT);
  const from = useRef<{ x: number; y: number; view: View }>(undefined);
  const zoomBy = (by: number): void => setView((now) => (bounded(now.zoom * by) === 1 ? FIT : { ...now, zoom: bounded(now.zoom * by) }));
  return {
    view,
    reset: () => setView(FIT),
    zoomIn: () => zoomBy(STEP),
    zoomOut: () => zoomBy(1 / STEP),
    style: { transform: `translate(${view.x}px, ${view.y}px) scale(${view.zoom})` },
    surface: {
      onWheel: ({ deltaY }: WheelEvent) => zoomBy(deltaY < 0 ? STEP : 1 / STEP),
      onDoubleClick: () => setView(view.zoom > 1 ? FIT : { ...FIT, zoom: 3 }),
      onPointerDown: (event: PointerEvent) => {
        if (view.zoom === 1) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, y: event.clientY, view };
      },
      onPointerMove: (event: PointerEvent) => {
        const start = from.current;
        if (start) setView({ ...start.view, x: start.view.x + event.clientX - start.x, y: start.view.y + event.clientY - start.y });
      },
      onPointerUp: () => {
        from.current = undefined;
      },
    },
  };
};
export type Zoom = ReturnType<typeof useZoom>;
