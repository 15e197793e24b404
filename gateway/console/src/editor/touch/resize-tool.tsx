import { resizedImage } from "@nodeloom/kernel/graph";
import { useState } from "react";
import { TOUCH, RESIZE } from "../../messages/editor/touch";
import { Button } from "../../ui/button";
import { placed, type Handle } from "./boxes";
import { HandleBox } from "./handle-box";
import { resizeChanges, resizingOf } from "./resize";
import { textAt } from "./settings";
import { Stage } from "./stage";
import type { ToolProps } from "./tool";

const SIDES: readonly Handle[] = ["e", "se", "s"];
const BAR = "#000000";

/** Resizes by the edges of the result, beside the outline of the picture's own size. */
export const ResizeTool = ({ picture, settings, change, control, restore, drag, layout }: ToolProps) => {
  const result = resizedImage(resizingOf(settings), picture);
  const reach = { width: Math.max(result.width, picture.width), height: Math.max(result.height, picture.height) };
  // The scale stays while a handle is held; otherwise the picture would move away from the pointer.
  const [heldReach, setHeld] = useState<typeof reach>();
  const surface = (
    <Stage size={heldReach ?? reach} label={TOUCH.picture}>
      {(scale) => (
        <>
          <div
            className="touch-check absolute overflow-hidden"
            data-testid="touch-result"
            style={{
              width: result.width * scale,
              height: result.height * scale,
              ...(resizingOf(settings).fit === "contain" ? { background: textAt(settings, "background") ?? BAR } : {}),
            }}
          >
            <img src={picture.url} alt="" draggable={false} className="absolute max-w-none" style={placed(result.picture, scale)} />
          </div>
          <div className="touch-own" aria-hidden style={{ width: picture.width * scale, height: picture.height * scale }} />
          <HandleBox
            name={RESIZE.image}
            box={{ left: 0, top: 0, width: result.width, height: result.height }}
            scale={scale}
            handles={SIDES}
            moves={false}
            drag={drag}
            onHold={(isHeld) => setHeld(isHeld ? reach : undefined)}
            onDrag={(from, grip, by) => grip !== "move" && change(resizeChanges(settings, picture, from, grip, by))}
            onRestore={restore}
          />
        </>
      )}
    </Stage>
  );
  return layout(
    surface,
    <>
      <div className="grid grid-cols-2 gap-3">
        {control("width", { description: undefined, default: result.width })}
        {control("height", { description: undefined, default: result.height })}
      </div>
      <Button size="sm" className="self-start" onClick={() => change({ width: picture.width, height: undefined })}>
        {RESIZE.original}
      </Button>
      {control("fit")}
      {control("enlarge")}
      {resizingOf(settings).fit === "contain" && control("background")}
      {control("sharpen")}
      <p className="text-sm">
        <span className="text-muted">{TOUCH.result}</span>{" "}
        <output data-testid="touch-size">{TOUCH.size(result.width, result.height)}</output>
      </p>
    </>,
  );
};
