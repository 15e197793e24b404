import type { ImageSize } from "@nodeloom/kernel/graph";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { classes } from "../../ui/classes";
import { clamped } from "./boxes";

/** Free space around a picture, for handles at its edges. */
const MARGIN = 28;
const MOST_SCALE = 8;

/** The size of an element, as it changes. */
const useRoom = () => {
  const ref = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState<ImageSize>();
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setRoom({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, room };
};

/** A surface of a size in picture pixels, as large as there is room. */
export const Stage = ({
  size,
  label,
  className,
  children,
}: {
  size: ImageSize;
  label: string;
  className?: string;
  children: (scale: number) => ReactNode;
}) => {
  const { ref, room } = useRoom();
  const fitting = room && Math.min((room.width - 2 * MARGIN) / size.width, (room.height - 2 * MARGIN) / size.height);
  const scale = fitting && clamped(fitting, 0.001, MOST_SCALE);
  return (
    <div ref={ref} role="region" aria-label={label} className={classes("touch-stage", className)}>
      {scale !== undefined && (
        <div className="relative" style={{ width: size.width * scale, height: size.height * scale }} data-scale={scale}>
          {children(scale)}
        </div>
      )}
    </div>
  );
};
