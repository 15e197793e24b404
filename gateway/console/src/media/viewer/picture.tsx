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
/** Position of a zoomed picture of which a part stays on the stage. */
const within = (view: View, { clientWidth, clientHeight }: Element): View => {
  const limit = (at: number, size: number): number =>
    Math.max(-1, Math.min(1, (2 * at) / (size * (view.zoom - 1)))) * (size / 2) * (view.zoom - 1);
  return { ...view, x: limit(view.x, clientWidth), y: limit(view.y, clientHeight) };
};

/** Zoom of a picture: the whole picture, or a part that follows the pointer. */
export const useZoom = () => {
  const [view, setView] = useState(FIT);
  const from = useRef<{ x: number; y: number; view: View }>(undefined);
  const zoomBy = (by: number): void =>
    setView((now) => {
      const zoom = bounded(now.zoom * by);
      const scale = zoom === 1 ? 0 : (zoom - 1) / (now.zoom - 1 || zoom - 1);
      return { zoom, x: now.x * scale, y: now.y * scale };
    });
  const release = (): void => {
    from.current = undefined;
  };
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
        if (!start) return;
        const moved = { ...start.view, x: start.view.x + event.clientX - start.x, y: start.view.y + event.clientY - start.y };
        setView(within(moved, event.currentTarget));
      },
      onPointerUp: release,
      onPointerCancel: release,
    },
  };
};
export type Zoom = ReturnType<typeof useZoom>;
