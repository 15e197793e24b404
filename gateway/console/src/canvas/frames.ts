import { isRecord, type GraphNode } from "@nodeloom/kernel/graph";
import { isRemark } from "./kinds";

/** A frame is a remark with a size: `data.frame`. What lies on it moves with it; it never runs. */
export interface FrameSize {
  width: number;
  height: number;
}

export const SMALLEST_FRAME: FrameSize = { width: 160, height: 100 };
const LARGEST = 20_000;
/** Around what it is put around; its title stands in the upper margin. */
export const FRAME_MARGIN = 32;
export const FRAME_TITLE = 44;

const bounded = (value: number, least: number): number => Math.round(Math.min(LARGEST, Math.max(least, value)));

export const frameSize = ({ width, height }: FrameSize): FrameSize => ({
  width: bounded(width, SMALLEST_FRAME.width),
  height: bounded(height, SMALLEST_FRAME.height),
});

/** The size of a frame; undefined for every other node. */
export const frameOf = ({ type, data: { frame } }: GraphNode): FrameSize | undefined => {
  if (!isRemark(type) || !isRecord(frame)) return undefined;
  const { width, height } = frame;
  return typeof width === "number" && typeof height === "number" ? frameSize({ width, height }) : undefined;
};

interface Placed {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Ids of what lies on a frame: whose middle is inside. */
export const onFrame = (frame: Placed, others: readonly Placed[]): string[] =>
  others
    .filter(({ id, x, y, width, height }) => {
      const [middle, centre] = [x + width / 2, y + height / 2];
      return id !== frame.id && middle > frame.x && middle < frame.x + frame.width && centre > frame.y && centre < frame.y + frame.height;
    })
    .map(({ id }) => id);
