import { useEffect, useMemo, useRef } from "react";
import { Notice } from "../../ui/notice";
import { LETTERS, TOUCH } from "../../messages/editor/touch";
import { Anchors } from "./anchors";
import { CORNERS, dragged, placed } from "./boxes";
import { ColourWell } from "./colour-well";
import { HandleBox } from "./handle-box";
import { anchorBeside, anchorNear, boxOf, isSimple, laidOut, letteringOf, positionOf, sizeAfter, sizeOf, type LaidOut } from "./lettering";
import { drawLetters, useFont, type Weight } from "./letters";
import { textAt } from "./settings";
import { Stage } from "./stage";
import type { ToolProps } from "./tool";

const LETTER_COLOUR = "#ffffff";
const BOX_COLOUR = "#00000099";

const Letters = ({ laid, weight, line, colour, scale }: { laid: LaidOut; weight: Weight; line: number; colour: string; scale: number }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) drawLetters(canvas.current, laid, { weight, line, colour });
  }, [laid, weight, line, colour]);
  return <canvas ref={canvas} style={{ width: laid.width * scale, height: laid.height * scale }} />;
};

/** Writes a text on the picture, with the operation's own fonts and line breaks. */
export const TextTool = ({ picture, settings, change, control, restore, drag, layout }: ToolProps) => {
  const weight: Weight = settings.bold === true ? "bold" : "regular";
  const [text, align] = [textAt(settings, "text") ?? "", textAt(settings, "align") ?? "centre"];
  const lettering = letteringOf(settings, picture);
  const { line, margin, padding, widest, spacing } = lettering;
  const font = useFont(weight, line);
  const laid = useMemo(
    () => (font === undefined || font === "failed" ? undefined : laidOut(text, { line, margin, padding, widest, spacing }, align, font)),
    [text, line, margin, padding, widest, spacing, align, font],
  );
  const colours = { colour: textAt(settings, "colour") ?? LETTER_COLOUR, background: textAt(settings, "background") ?? BOX_COLOUR };
  const box = laid && boxOf(laid, picture, lettering, positionOf(settings));
  const surface = (
    <Stage size={picture} label={TOUCH.picture}>
      {(scale) => (
        <>
          <div className="touch-check absolute inset-0 overflow-hidden" data-testid="touch-result">
            <img src={picture.url} alt="" draggable={false} className="absolute size-full max-w-none" />
            {laid && typeof box === "object" && (
              <div
                className="absolute"
                data-testid="touch-text"
                data-box={JSON.stringify(box)}
                style={{
                  ...placed(box, scale),
                  padding: padding * scale,
                  background: colours.background,
                }}
              >
                <Letters laid={laid} weight={weight} line={line} colour={colours.colour} scale={scale} />
              </div>
            )}
          </div>
          {typeof box === "object" && (
            <HandleBox
              name={LETTERS.box}
              box={box}
              scale={scale}
              handles={CORNERS}
              drag={drag}
              onDrag={(from, grip, by, isPointer) => {
                if (grip !== "move") {
                  const { height } = dragged(from, grip, by, { ratio: from.width / from.height });
                  return change({ size: sizeAfter(sizeOf(settings), box.height, height) });
                }
                const position = isPointer ? anchorNear(dragged(from, grip, by), picture, margin) : anchorBeside(positionOf(settings), by);
                change({ position });
              }}
              onRestore={restore}
            />
          )}
        </>
      )}
    </Stage>
  );
  return layout(
    surface,
    <>
      {control("text")}
      {typeof box === "string" && <Notice kind="warn">{LETTERS[box]}</Notice>}
      {font === "failed" && <Notice kind="warn">{LETTERS.noFont}</Notice>}
      {!isSimple(text) && <Notice kind="info">{LETTERS.approximate}</Notice>}
      <Anchors chosen={positionOf(settings)} onChoose={(position) => change({ position })} />
      <div className="grid grid-cols-2 gap-3">
        {control("size", { description: undefined })}
        {control("margin", { description: undefined })}
      </div>
      <ColourWell label={LETTERS.colour} value={colours.colour} onChange={(colour) => change({ colour })} />
      <ColourWell label={LETTERS.background} value={colours.background} onChange={(background) => change({ background })} />
      {control("bold")}
      {control("align")}
    </>,
  );
};
