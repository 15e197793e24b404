import { type ImageSize } from "@nodeloom/kernel/graph";
import { brokenInto, cueStyle, type Cue } from "@nodeloom/kernel/captions";
import { useEffect, useRef } from "react";
import { familyOf, useFont } from "../letters";
import { numberAt, textAt, type Settings } from "../settings";
import { stacked, wrapped } from "./cue-layout";
import { charactersOf } from "./cues";

const DEFAULT_SIZE = 0.06;
const LETTER_COLOUR = "#ffffff";
const OUTLINE_COLOUR = "#101010";
const SHADOW_COLOUR = "rgb(0 0 0 / 50%)";
/** `usWinAscent` and `usWinDescent` of Noto Sans Bold in ems, by which libass sizes and places letters. Browsers use other measures. */
const ASCENT = 1.124;
const LINE_HEIGHT = ASCENT + 0.395;

const linesIn = (text: string, characters: number): string =>
  text
    .split("\n")
    .flatMap((line) => brokenInto(line, characters))
    .join("\n");

interface Drawing {
  cues: readonly Cue[];
  size: ImageSize;
  settings: Settings;
}

const draw = (canvas: HTMLCanvasElement, { cues, size, settings }: Drawing): void => {
  canvas.width = size.width;
  canvas.height = size.height;
  const context = canvas.getContext("2d")!;
  const style = cueStyle(size, numberAt(settings, "size") ?? DEFAULT_SIZE);
  const { line, outline, margin } = style;
  context.font = `${line / LINE_HEIGHT}px "${familyOf("bold")}"`;
  context.textRendering = "geometricPrecision";
  context.textAlign = "center";
  context.lineJoin = "round";
  context.lineWidth = 2 * outline;
  const measure = (text: string): number => context.measureText(text).width;
  const texts = cues.map(({ text }) => wrapped(linesIn(text, charactersOf(settings)), size.width - 2 * margin, measure));
  const lines = stacked(texts, size, style, textAt(settings, "position") ?? "bottom");
  const each = (act: (text: string, x: number, y: number) => void): void => {
    for (const { text, top } of lines) act(text, size.width / 2, top + (line * ASCENT) / LINE_HEIGHT);
  };
  // The shadow has the form of letters with their outline, at one opacity.
  context.strokeStyle = SHADOW_COLOUR;
  each((text, x, y) => context.strokeText(text, x + outline, y + outline));
  context.strokeStyle = OUTLINE_COLOUR;
  each((text, x, y) => context.strokeText(text, x, y));
  context.fillStyle = textAt(settings, "colour") ?? LETTER_COLOUR;
  each((text, x, y) => context.fillText(text, x, y));
};

/** Captions as the run draws them, in the size of the video. */
export const CaptionView = ({ cues, size, settings }: { cues: readonly Cue[]; size: ImageSize; settings: Settings }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const font = useFont("bold", cueStyle(size, DEFAULT_SIZE).line);
  const { width, height } = size;
  useEffect(() => {
    if (!canvas.current || font === undefined || font === "failed") return;
    draw(canvas.current, { cues, size: { width, height }, settings });
  }, [cues, width, height, settings, font]);
  return (
    <canvas
      ref={canvas}
      className="pointer-events-none absolute inset-0 size-full"
      data-testid="touch-captions"
      data-shown={cues.map(({ text }) => text).join("\n")}
      aria-hidden
    />
  );
};
