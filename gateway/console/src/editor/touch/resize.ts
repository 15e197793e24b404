import { MOST_PIXELS_WIDE, type ImageSize, type Resizing } from "@nodeloom/kernel/graph";
import { clamped, directionOf, type Handle, type Shift } from "./boxes";
import { numberAt, textAt, type Settings } from "./settings";

const FITS = ["inside", "cover", "contain", "fill"] as const;

export const resizingOf = (settings: Settings): Resizing => ({
  width: numberAt(settings, "width"),
  height: numberAt(settings, "height"),
  fit: FITS.find((fit) => fit === textAt(settings, "fit")) ?? "inside",
  enlarge: settings.enlarge !== false,
});

/**
 * Settings after a drag. With the fit `inside` the picture keeps its proportions, and one stored side is enough; the other fits store both.
 * @param from size at the start of the drag
 */
export const resizeChanges = (settings: Settings, own: ImageSize, from: ImageSize, handle: Handle, by: Shift): Settings => {
  const { fit, enlarge, width: ownWidth, height: other } = resizingOf(settings);
  const to = directionOf(handle);
  const most = (side: number): number => (enlarge ? MOST_PIXELS_WIDE : Math.min(side, MOST_PIXELS_WIDE));
  if (fit !== "inside")
    return {
      width: Math.round(clamped(from.width + to.x * by.x, 1, most(own.width))),
      height: Math.round(clamped(from.height + to.y * by.y, 1, most(own.height))),
    };
  const ratio = own.width / own.height;
  const [across, down] = [from.width + to.x * by.x, (from.height + to.y * by.y) * ratio];
  const wantedRatio = to.x === 0 ? down : to.y === 0 ? across : Math.max(across, down);
  const width = clamped(wantedRatio, Math.max(1, ratio), Math.min(most(own.width), most(own.height) * ratio));
  const isByHeight = ownWidth === undefined && other !== undefined;
  return isByHeight ? { width: undefined, height: Math.round(width / ratio) } : { width: Math.round(width), height: undefined };
};
