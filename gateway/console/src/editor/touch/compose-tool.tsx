import { useState, type CSSProperties } from "react";
import { NumberField } from "../../ui/inputs/value-inputs";
import { COMPOSE, TOUCH } from "../../messages/editor/touch";
import { Anchors } from "./anchors";
import { CORNERS, placed } from "./boxes";
import { composeChanges, layerOf, type Guides } from "./compose";
import { HandleBox } from "./handle-box";
import { numberAt, textAt } from "./settings";
import { Stage } from "./stage";
import type { ToolProps } from "./tool";

/** On the screen. */
const SNAP_PIXELS = 8;
const NO_GUIDES: Guides = { x: undefined, y: undefined };

/** Blend modes have the names of CSS, apart from the plain one. */
const blendOf = (blend: string | undefined): CSSProperties["mixBlendMode"] =>
  blend === undefined || blend === "over" ? "normal" : (blend as CSSProperties["mixBlendMode"]);

/** Places a layer on a picture. */
export const ComposeTool = ({ picture, overlay, settings, change, control, restore, drag, layout }: ToolProps) => {
  const [guides, setGuides] = useState(NO_GUIDES);
  if (!overlay) return null;
  const box = layerOf(settings, overlay, picture);
  const isAnchored = numberAt(settings, "x") === undefined && numberAt(settings, "y") === undefined;
  const surface = (
    <Stage size={picture} label={TOUCH.picture}>
      {(scale) => (
        <>
          <div className="touch-check absolute inset-0 isolate overflow-hidden" data-testid="touch-result">
            <img src={picture.url} alt="" draggable={false} className="absolute size-full max-w-none" />
            <img
              src={overlay.url}
              alt=""
              draggable={false}
              className="absolute max-w-none"
              style={{
                ...placed(box, scale),
                opacity: numberAt(settings, "opacity") ?? 1,
                mixBlendMode: blendOf(textAt(settings, "blend")),
              }}
            />
          </div>
          {guides.x !== undefined && <div className="touch-guide touch-guide-x" style={{ left: guides.x * scale }} />}
          {guides.y !== undefined && <div className="touch-guide touch-guide-y" style={{ top: guides.y * scale }} />}
          <HandleBox
            name={COMPOSE.layer}
            box={box}
            scale={scale}
            handles={CORNERS}
            drag={drag}
            onHold={(isHeld) => !isHeld && setGuides(NO_GUIDES)}
            onDrag={(from, grip, by, isPointer) => {
              const within = isPointer ? SNAP_PIXELS / scale : 0;
              const next = composeChanges(settings, { layer: overlay, image: picture }, from, grip, by, within);
              setGuides(isPointer ? next.guides : NO_GUIDES);
              change(next.changes);
            }}
            onRestore={restore}
          />
        </>
      )}
    </Stage>
  );
  return layout(
    surface,
    <>
      <Anchors
        chosen={isAnchored ? (textAt(settings, "position") ?? "centre") : undefined}
        onChoose={(position) => change({ position, x: undefined, y: undefined })}
      />
      <div className="grid grid-cols-2 gap-3">
        <NumberField label={COMPOSE.left} value={box.left} onChange={(x) => change({ x, y: box.top })} />
        <NumberField label={COMPOSE.top} value={box.top} onChange={(y) => change({ x: box.left, y })} />
        {control("width", { description: undefined, default: box.width })}
        {control("margin")}
      </div>
      <label className="flex flex-col gap-1 text-[13px] font-medium">
        {COMPOSE.opacity(Math.round((numberAt(settings, "opacity") ?? 1) * 100))}
        <input
          type="range"
          min={0}
          max={1}
          step={0.01}
          value={numberAt(settings, "opacity") ?? 1}
          className="h-11 accent-accent md:h-6"
          onChange={(event) => change({ opacity: Number(event.target.value) })}
        />
      </label>
      {control("blend")}
      <p className="text-xs text-faint">{COMPOSE.order}</p>
    </>,
  );
};
