import { drawShapes, MASK_SHAPES, shapesProblem, type ImageSize, type MaskShape } from "@nodeloom/kernel/graph";
import { Trash2, Undo2 } from "lucide-react";
import { useEffect, useId, useRef, useState, type PointerEvent } from "react";
import { Button } from "../../ui/button";
import { classes } from "../../ui/classes";
import { Notice } from "../../ui/notice";
import { MASK, TOUCH } from "../../messages/editor/touch";
import { pointAt, shapeOf, shapesOf, withPoint, type Point, type Tool } from "./mask";
import { numberAt } from "./settings";
import { Stage } from "./stage";
import type { ToolProps } from "./tool";

const TOOLS: readonly Tool[] = ["brush", "eraser", "rectangle"];
const DEFAULT_SIZE = 0.08;
/** Opacity of the selected part on the picture, out of 255. */
const TINT = 150;

/** Shows a mask over the picture: the selected part is tinted. */
const Tinted = ({ shapes, size, isInverted }: { shapes: readonly MaskShape[]; size: ImageSize; isInverted: boolean }) => {
  const ref = useRef<HTMLCanvasElement>(null);
  const { width, height } = size;
  useEffect(() => {
    const context = ref.current?.getContext("2d");
    if (!context) return;
    const levels = new Uint8Array(width * height);
    drawShapes(levels, { width, height }, shapes);
    const image = context.createImageData(width, height);
    for (const [index, level] of levels.entries()) {
      image.data.set([255, 47, 179, ((isInverted ? 255 - level : level) * TINT) / 255], index * 4);
    }
    context.putImageData(image, 0, 0);
  }, [shapes, width, height, isInverted]);
  return <canvas ref={ref} width={width} height={height} className="absolute inset-0 size-full" data-testid="touch-mask" aria-hidden />;
};

/** Draws a mask with a brush, an eraser and rectangles. */
export const MaskTool = ({ picture, settings, change, control, drag, layout }: ToolProps) => {
  const [tool, setTool] = useState<Tool>("brush");
  const [size, setSize] = useState(DEFAULT_SIZE);
  const [points, setPoints] = useState<readonly Point[]>([]);
  const slider = useId();
  const saved = shapesOf(settings);
  const current = shapeOf(tool, points, size);
  const shapes = current ? [...saved, current] : saved;
  const isFull = saved.length >= MASK_SHAPES.shapes || shapesProblem(shapes) !== undefined;
  const at = (event: PointerEvent<HTMLElement>): Point => {
    const box = event.currentTarget.getBoundingClientRect();
    return pointAt({ x: event.clientX - box.left, y: event.clientY - box.top }, box);
  };
  const end = (): void => {
    drag.cancel = undefined;
    setPoints([]);
  };
  const surface = (
    <Stage size={picture} label={TOUCH.picture}>
      {(scale) => (
        <div
          className="touch-paint"
          onPointerDown={(event) => {
            if (event.button !== 0 || isFull) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            drag.cancel = end;
            setPoints([at(event)]);
          }}
          onPointerMove={(event) => {
            if (points.length > 0) setPoints(withPoint(points, at(event)));
          }}
          onPointerUp={() => {
            if (current) change({ shapes });
            end();
          }}
          onPointerCancel={end}
        >
          <img src={picture.url} alt="" draggable={false} className="touch-check size-full" />
          <div className="absolute inset-0" style={{ filter: `blur(${((numberAt(settings, "feather") ?? 0) / 2) * scale}px)` }}>
            <Tinted
              shapes={isFull ? saved : shapes}
              size={{ width: Math.max(1, Math.round(picture.width * scale)), height: Math.max(1, Math.round(picture.height * scale)) }}
              isInverted={settings.invert === true}
            />
          </div>
        </div>
      )}
    </Stage>
  );
  return layout(
    surface,
    <>
      <fieldset className="flex flex-wrap gap-1.5">
        <legend className="mb-1 text-[13px] font-medium">{MASK.tool}</legend>
        {TOOLS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === tool}
            className={classes("touch-chip", one === tool && "touch-chip-on")}
            onClick={() => setTool(one)}
          >
            {MASK[one]}
          </button>
        ))}
      </fieldset>
      {tool !== "rectangle" && (
        <div className="flex flex-col gap-1.5">
          <label htmlFor={slider} className="text-[13px] font-medium">
            {MASK.size(Math.round(size * 100))}
          </label>
          <input
            id={slider}
            type="range"
            min={1}
            max={50}
            value={Math.round(size * 100)}
            onChange={({ target }) => setSize(Number(target.value) / 100)}
          />
        </div>
      )}
      <div className="flex gap-2">
        <Button icon={Undo2} disabled={saved.length === 0} onClick={() => change({ shapes: saved.slice(0, -1) })}>
          {MASK.undo}
        </Button>
        <Button icon={Trash2} disabled={saved.length === 0} onClick={() => change({ shapes: [] })}>
          {MASK.clear}
        </Button>
      </div>
      {isFull && <Notice kind="warn">{MASK.full}</Notice>}
      {control("feather")}
      {control("invert")}
      <p className="text-sm text-muted">{MASK.base}</p>
    </>,
  );
};
