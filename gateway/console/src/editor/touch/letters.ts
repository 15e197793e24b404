import regular from "@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf?url";
import bold from "@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf?url";
import { useEffect, useState } from "react";
import type { Font, Ink, LaidOut } from "./lettering";

/** The fonts of texts on images, from the files that the operation draws with. */
const FILES = { regular: { family: "nodeloom-text", url: regular }, bold: { family: "nodeloom-text-bold", url: bold } } as const;
export type Weight = keyof typeof FILES;
/** Name under which a loaded font can be drawn with. */
export const familyOf = (weight: Weight): string => FILES[weight].family;

const styled = (context: CanvasRenderingContext2D, weight: Weight, line: number): void => {
  context.font = `${line}px "${FILES[weight].family}"`;
  context.textRendering = "geometricPrecision";
  context.fontKerning = "normal";
};

const remembered = <T>(make: (key: string) => T): ((key: string) => T) => {
  const cache = new Map<string, T>();
  return (key) => {
    const cachedValue = cache.get(key) ?? make(key);
    cache.set(key, cachedValue);
    return cachedValue;
  };
};

const LARGE = 1_000;
const SEPARATOR = "\n";

const fontOf = (weight: Weight, line: number): Font => {
  const context = document.createElement("canvas").getContext("2d")!;
  // A browser rounds these measures, so they are read at a large size. pango rounds each of them up.
  styled(context, weight, LARGE);
  const { fontBoundingBoxAscent, fontBoundingBoxDescent } = context.measureText("");
  const upwards = (measure: number): number => Math.ceil((measure * line) / LARGE);
  styled(context, weight, line);
  const width = remembered((text) => context.measureText(text).width);
  const advance = remembered((pair) => {
    const [letter = "", next = ""] = pair.split(SEPARATOR);
    return Math.round(width(letter + next) - width(next));
  });
  return {
    advance: (letter, next) => advance(`${letter}${SEPARATOR}${next}`),
    ink: remembered((letter): Ink => {
      const { actualBoundingBoxLeft, actualBoundingBoxRight, actualBoundingBoxAscent, actualBoundingBoxDescent } =
        context.measureText(letter);
      return {
        left: actualBoundingBoxLeft,
        right: actualBoundingBoxRight,
        ascent: actualBoundingBoxAscent,
        descent: actualBoundingBoxDescent,
      };
    }),
    lineHeight: upwards(fontBoundingBoxAscent) + upwards(fontBoundingBoxDescent),
  };
};

/** Measures of the font at a size, as soon as its file is loaded; "failed" if it can't be. */
export const useFont = (weight: Weight, line: number): Font | "failed" | undefined => {
  const [loaded, setLoaded] = useState<Readonly<Partial<Record<Weight, boolean>>>>({});
  useEffect(() => {
    const { family, url } = FILES[weight];
    let isOver = false;
    new FontFace(family, `url("${url}")`)
      .load()
      .then(
        (face) => {
          document.fonts.add(face);
          return true;
        },
        () => false,
      )
      .then((isLoaded) => !isOver && setLoaded((now) => ({ ...now, [weight]: isLoaded })))
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [weight]);
  const [font, setFont] = useState<{ key: string; font: Font }>();
  const key = `${weight} ${line}`;
  if (loaded[weight] === true && font?.key !== key) setFont({ key, font: fontOf(weight, line) });
  if (loaded[weight] === false) return "failed";
  return font?.key === key ? font.font : undefined;
};

/** Draws a text in the size of its ink. */
export const drawLetters = (
  canvas: HTMLCanvasElement,
  { width, height, marks }: LaidOut,
  style: { weight: Weight; line: number; colour: string },
): void => {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d")!;
  styled(context, style.weight, style.line);
  context.fillStyle = style.colour;
  for (const { letter, x, y } of marks) context.fillText(letter, x, y);
};
