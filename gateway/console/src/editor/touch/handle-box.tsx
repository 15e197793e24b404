import type { ImageBox } from "@nodeloom/kernel/graph";
import { useId, useRef, type KeyboardEvent, type PointerEvent } from "react";
import { classes } from "../../ui/classes";
import { HANDLE_BOX } from "../../messages/editor/touch";
import { arrowShift, HANDLES, placed, type Grip, type Handle, type Shift } from "./boxes";

/** Ends the drag in progress and restores its start; undefined without a drag. */
export interface DragState {
  cancel: (() => void) | undefined;
}

export interface HandleBoxProps {
  /** Accessible name, such as "crop area". */
  name: string;
  box: ImageBox;
  /** Screen pixels per pixel of the picture. */
  scale: number;
  handles?: readonly Handle[];
  /** The whole box can be moved. */
  moves?: boolean;
  isDashed?: boolean;
  drag: DragState;
  /** @param from the box at the start of the drag @param by the whole way since then @param isPointer false for keys */
  onDrag: (from: ImageBox, grip: Grip, by: Shift, isPointer: boolean) => void;
  /** Takes back the edits since this render. */
  onRestore: () => void;
  /** A pointer holds the box, or released it. */
  onHold?: (isHeld: boolean) => void;
}

/** A box with handles for pointer, touch and keyboard. */
export const HandleBox = (props: HandleBoxProps) => {
  const { name, box, scale, handles = HANDLES, moves = true, isDashed = false, drag, onDrag, onRestore, onHold } = props;
  const start = useRef<{ x: number; y: number; box: ImageBox }>(undefined);
  const hint = useId();
  const release = (): void => {
    start.current = undefined;
    drag.cancel = undefined;
    onHold?.(false);
  };
  const grip = (which: Grip) => ({
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      start.current = { x: event.clientX, y: event.clientY, box };
      onHold?.(true);
      drag.cancel = () => {
        release();
        onRestore();
      };
    },
    onPointerMove: (event: PointerEvent) => {
      const from = start.current;
      if (from) onDrag(from.box, which, { x: (event.clientX - from.x) / scale, y: (event.clientY - from.y) / scale }, true);
    },
    onPointerUp: release,
    onPointerCancel: () => drag.cancel?.(),
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      const by = arrowShift(event);
      if (by) {
        event.preventDefault();
        onDrag(box, which, by, false);
      } else if (event.key === "Enter") {
        event.preventDefault();
        event.currentTarget.closest("form")?.requestSubmit();
      }
    },
    "aria-describedby": hint,
  });
  return (
    <div role="group" aria-label={name} className={classes("touch-box", isDashed && "touch-box-dashed")} style={placed(box, scale)}>
      {moves && <button type="button" aria-label={HANDLE_BOX.move(name)} className="touch-move" {...grip("move")} />}
      {handles.map((handle) => (
        <button
          key={handle}
          type="button"
          aria-label={HANDLE_BOX[handle]}
          data-handle={handle}
          className={`touch-handle touch-handle-${handle}`}
          {...grip(handle)}
        />
      ))}
      <span id={hint} hidden>
        {HANDLE_BOX.keys}
      </span>
    </div>
  );
};
