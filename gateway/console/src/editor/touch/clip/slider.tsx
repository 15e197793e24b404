import { useRef, type CSSProperties, type KeyboardEvent, type PointerEvent } from "react";
import { CLIP } from "../../../messages/editor/clip";
import type { DragState } from "../handle-box";
import { arrowSeconds } from "./times";

export interface SliderProps {
  /** Accessible name, such as "Start". */
  label: string;
  className: string;
  style: CSSProperties;
  /** Time in seconds. */
  at: number;
  least: number;
  most: number;
  /** Length of the timeline. */
  whole: number;
  drag: DragState;
  onMove: (to: number) => void;
  /** Takes back the edits since this render. */
  onRestore: () => void;
  /** Space plays or pauses. */
  onToggle: () => void;
}

/** Width of the timeline on the screen. */
const trackWidth = (element: HTMLElement): number => element.closest("[data-track]")?.getBoundingClientRect().width ?? 1;

/** A time on a timeline, for pointer, touch and keyboard. */
export const Slider = ({ label, className, style, at, least, most, whole, drag, onMove, onRestore, onToggle }: SliderProps) => {
  const grip = useRef<{ x: number; at: number }>(undefined);
  const release = (): void => {
    grip.current = undefined;
    drag.cancel = undefined;
  };
  const press = (event: PointerEvent<HTMLElement>): void => {
    if (event.button !== 0) return;
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    grip.current = { x: event.clientX, at };
    drag.cancel = () => {
      release();
      onRestore();
    };
  };
  const move = (event: PointerEvent<HTMLElement>): void => {
    const from = grip.current;
    if (from) onMove(from.at + ((event.clientX - from.x) / trackWidth(event.currentTarget)) * whole);
  };
  const type = (event: KeyboardEvent<HTMLElement>): void => {
    const by = arrowSeconds(event);
    if (by !== undefined) onMove(at + by);
    else if (event.key === "Home") onMove(least);
    else if (event.key === "End") onMove(most);
    else if (event.key === " ") onToggle();
    else if (event.key === "Enter") event.currentTarget.closest("form")?.requestSubmit();
    else return;
    event.preventDefault();
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={at}
      aria-valuetext={CLIP.seconds(at)}
      title={CLIP.keys}
      className={className}
      style={style}
      onPointerDown={press}
      onPointerMove={move}
      onPointerUp={release}
      onPointerCancel={() => drag.cancel?.()}
      onKeyDown={type}
    />
  );
};
