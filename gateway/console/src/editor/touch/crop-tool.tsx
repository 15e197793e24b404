import { cropBox, cropSize, type ImageBox } from "@nodeloom/kernel/graph";
import { useState } from "react";
import { classes } from "../../ui/classes";
import { Check } from "../../ui/inputs/field";
import { NumberField } from "../../ui/inputs/value-inputs";
import { Notice } from "../../ui/notice";
import { CROP, TOUCH } from "../../messages/editor/touch";
import { centredOn, dragged, placed } from "./boxes";
import { ASPECTS, ATTENTION, cropChanges, croppingOf, ratioOf, withNumber } from "./crop";
import { HandleBox } from "./handle-box";
import { Stage } from "./stage";
import type { ToolProps } from "./tool";

const NUMBERS = ["width", "height", "left", "top"] as const;

const Aspects = ({
  own,
  chosen,
  onChoose,
}: {
  own: string;
  chosen: string | undefined;
  onChoose: (aspect: string | undefined) => void;
}) => {
  const aspects = [undefined, own, ...ASPECTS.filter((aspect) => aspect !== own)];
  const all = chosen === undefined || aspects.includes(chosen) ? aspects : [...aspects, chosen];
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 text-[13px] font-medium">{CROP.aspect}</legend>
      <div className="flex flex-wrap gap-1.5">
        {all.map((aspect) => (
          <button
            key={aspect ?? ""}
            type="button"
            aria-pressed={aspect === chosen}
            className={classes("touch-chip", aspect === chosen && "touch-chip-on")}
            onClick={() => onChoose(aspect)}
          >
            {aspect === undefined ? CROP.free : aspect === own ? CROP.original : aspect}
          </button>
        ))}
      </div>
    </fieldset>
  );
};

/** Crops by a box on the picture. */
export const CropTool = ({ picture, settings, change, restore, drag, layout }: ToolProps) => {
  const cropping = croppingOf(settings);
  const [aspect, setAspect] = useState(cropping.aspect);
  const isFound = cropping.position === ATTENTION && cropping.x === undefined;
  const chosenSize = cropSize(cropping, picture);
  const isTooLarge = chosenSize.width > picture.width || chosenSize.height > picture.height;
  const box = isTooLarge ? { left: 0, top: 0, width: picture.width, height: picture.height } : cropBox(cropping, picture);
  const put = (next: ImageBox, keptRatio = aspect): void => change(cropChanges(next, picture, keptRatio));
  const choose = (next: string | undefined): void => {
    setAspect(next);
    if (next !== undefined) put(centredOn(box, cropSize({ aspect: next, position: "centre" }, picture), picture), next);
  };
  const surface = (
    <Stage size={picture} label={TOUCH.picture}>
      {(scale) => (
        <>
          <img src={picture.url} alt="" draggable={false} className="touch-check size-full" />
          <div className="touch-shade" aria-hidden>
            <div style={placed(box, scale)} />
          </div>
          <HandleBox
            name={CROP.area}
            box={box}
            scale={scale}
            drag={drag}
            isDashed={isFound}
            onDrag={(from, grip, by) => put(dragged(from, grip, by, { within: picture, ratio: ratioOf(aspect) }))}
            onRestore={restore}
          />
        </>
      )}
    </Stage>
  );
  return layout(
    surface,
    <>
      <Aspects own={`${picture.width}:${picture.height}`} chosen={aspect} onChoose={choose} />
      {isTooLarge && <Notice kind="warn">{CROP.tooLarge(picture.width, picture.height)}</Notice>}
      <div className="grid grid-cols-2 gap-3">
        {NUMBERS.map((name) => (
          <NumberField
            key={name}
            label={CROP[name]}
            value={box[name]}
            onChange={(value) => {
              if (value === undefined) return;
              if (name === "width" || name === "height") setAspect(undefined);
              put(withNumber(box, name, value, picture), undefined);
            }}
          />
        ))}
      </div>
      <Check
        label={CROP.attention}
        hint={CROP.attentionHint}
        checked={isFound}
        onCheck={(isOn) => (isOn ? change({ position: ATTENTION, x: undefined, y: undefined }) : put(box))}
      />
      <p className="text-sm">
        <span className="text-muted">{TOUCH.result}</span> <output data-testid="touch-size">{TOUCH.size(box.width, box.height)}</output>
      </p>
    </>,
  );
};
